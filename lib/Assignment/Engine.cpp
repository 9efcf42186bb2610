// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Engine.h"

#include "Ascent.h"
#include "Expansion.h"
#include "Frontier.h"
#include "TwoLabel.h"

using namespace mp::assignment;

Answer Engine::minimise(const Objective &objective, Certificate *certificate) const {
  std::vector<Multiplier> flow;
  if (std::optional<CutResult> cut =
          solveTwoLabel(flat, objective, options.prefer, certificate ? &flow : nullptr)) {
    if (certificate)
      *certificate = {objective, std::move(flow), cut->value};
    return {std::move(cut->labels), cut->value, cut->value, Method::MinCut};
  }
  FrontierResult frontier = searchFrontier(flat, {objective}, options);
  if (frontier.complete) {
    if (certificate)
      *certificate = ascend(flat, objective, options.boundRounds).certificate;
    return {std::move(frontier.labels), frontier.value, frontier.value, Method::Frontier};
  }
  AscentResult ascent = ascend(flat, objective, options.boundRounds);
  if (certificate)
    *certificate = ascent.certificate;
  Answer answer;
  answer.labels = searchByExpansion(flat, objective, options.prefer, ascent.labels);
  answer.value = objective.of(evaluate(flat.problem(), answer.labels));
  answer.bound = ascent.bound;
  answer.method = Method::Expansion;
  return answer;
}
