// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minimises one linear objective: by a minimum cut or a frontier search where these are exact, else
// by ascent and improvement in turns.

#include "Engine.h"

#include "Ascent.h"
#include "Expansion.h"
#include "Frontier.h"
#include "TwoLabel.h"

using namespace mpcore::assignment;

Answer Engine::minimise(const Objective &objective, Certificate *certificate) const {
  uint64_t numNodes = indexed.problem().nodes.size();
  std::vector<Multiplier> flow;
  if (std::optional<CutResult> cut =
          solveTwoLabel(indexed, objective, options.prefer, certificate ? &flow : nullptr)) {
    if (certificate)
      *certificate = {objective, std::move(flow), cut->value};
    return {std::move(cut->labels), cut->value, cut->value, Method::MinCut, numNodes};
  }
  // A narrow frontier is quickly searched. A wide one only if the bound leaves a gap.
  constexpr unsigned narrow = 5000;
  Answer answer;
  uint64_t effort = 0;
  auto tryFrontier = [&](unsigned cap) {
    if (smallestCapExceeded <= cap)
      return false;
    SolveOptions capped = options;
    capped.stateCap = cap;
    FrontierResult frontier = searchFrontier(indexed, {objective}, capped);
    effort += frontier.effort;
    if (!frontier.complete) {
      smallestCapExceeded = std::min(smallestCapExceeded, cap);
      if (frontier.tooWide)
        smallestCapExceeded = 0;
      return false;
    }
    answer = {std::move(frontier.labels), frontier.value, frontier.value, Method::Frontier, effort};
    return true;
  };
  if (tryFrontier(std::min(narrow, options.stateCap))) {
    if (certificate) {
      std::unique_ptr<Ascent> ascent = Ascent::create(indexed, objective);
      ascent->run(options.boundRounds);
      *certificate = ascent->certificate();
    }
    return answer;
  }
  answer = approximate(objective, certificate);
  // With its moves and sweeps this takes as long as some fifty cuts.
  effort += 50 * numNodes;
  answer.effort = effort;
  if (!answer.exact() && options.stateCap > narrow)
    tryFrontier(options.stateCap);
  answer.effort = effort;
  return answer;
}

/// Ascent and improvement take turns until they meet.
Answer Engine::approximate(const Objective &objective, Certificate *certificate) const {
  Answer answer;
  answer.method = Method::Expansion;
  auto consider = [&](Labels labels) {
    Weight value = objective.of(evaluate(indexed.problem(), labels));
    if (answer.labels.empty() || value < answer.value) {
      answer.labels = std::move(labels);
      answer.value = value;
    }
  };
  std::unique_ptr<Ascent> ascent = Ascent::create(indexed, objective);
  for (unsigned done = 0, next = 4; done < options.boundRounds; next *= 2) {
    next = std::min(next, options.boundRounds);
    bool changed = ascent->run(next - done);
    done = next;
    answer.bound = std::max(answer.bound, ascent->bound());
    consider(improveByMoves(indexed, objective, ascent->cheapestVariants()));
    if (answer.exact() || !changed)
      break;
  }
  if (!answer.exact())
    consider(searchByExpansion(indexed, objective, options.prefer));
  if (certificate)
    *certificate = ascent->certificate();
  return answer;
}
