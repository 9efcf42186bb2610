// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts arguments into the parts of ranks, runs the ranks as threads, and puts results together.

#include "mp/Execution/Host/DistributedProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Dialect/Comm/CommDialect.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <cstdlib>
#include <cstring>
#include <thread>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

std::optional<int64_t> DistributedProgram::ranksOf(func::FuncOp function) {
  auto ranks = function->getAttrOfType<IntegerAttr>(comm::kRanksAttrName);
  return ranks ? std::optional<int64_t>(ranks.getInt()) : std::nullopt;
}

DistributedProgram::~DistributedProgram() {
  mp_rt_group_destroy(group);
  // A process that ends without this makes the launcher end the others, which wait for it.
  if (transport && !failed)
    mp_rt_close_mpi();
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static std::optional<int64_t> numberOf(Attribute attribute) {
  auto number = dyn_cast_or_null<IntegerAttr>(attribute);
  return number ? std::optional<int64_t>(number.getInt()) : std::nullopt;
}

static void makeWhole(Parameter &parameter, std::optional<int64_t> dim, int64_t ranks) {
  if (dim)
    parameter.shape[size_t(*dim)] *= ranks;
}

/// Launchers tell a process by these variables that there are others (Open MPI; MPICH, Slurm).
static bool isLaunched() {
  return llvm::any_of(std::array{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"},
                      [](const char *name) { return std::getenv(name) != nullptr; });
}

std::optional<int> DistributedProgram::launchedProcesses() {
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char *text = std::getenv(name);
    if (int processes = 0; text && !StringRef(text).getAsInteger(10, processes))
      return processes;
  }
  return std::nullopt;
}

/// A launcher of another MPI than the transport's starts processes of which each believes that it
/// is alone.
static llvm::Error checkLauncher(const mp_rt_transport &transport) {
  std::optional<int> launched = DistributedProgram::launchedProcesses();
  if (!launched || *launched == transport.processes)
    return llvm::Error::success();
  return createStringError(
      llvm::formatv("the launcher started {0} processes, but MPI sees {1}; expected the launcher "
                    "of the MPI that mp was built with",
                    *launched, transport.processes)
          .str());
}

llvm::Error DistributedProgram::setDeadline() {
  const char *text = std::getenv("MP_COLLECTIVE_DEADLINE");
  if (!text)
    return llvm::Error::success();
  if (StringRef(text).getAsDouble(deadline) || !(deadline > 0))
    return createStringError(llvm::Twine("MP_COLLECTIVE_DEADLINE is '") + text +
                             "', expected a positive number of seconds");
  mp_rt_group_set_deadline(group, deadline);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<DistributedProgram>>
DistributedProgram::compile(ModuleOp module, StringRef entry, const ProgramOptions &options) {
  auto function = findEntry(module, entry);
  if (!function)
    return function.takeError();
  std::unique_ptr<DistributedProgram> result(new DistributedProgram);
  result->ranks = ranksOf(*function).value_or(1);
  if (isLaunched()) {
    result->transport = mp_rt_open_mpi();
    result->failed = true; // until the group stands
    if (!result->transport)
      return createStringError(mp_rt_transport_error());
    if (llvm::Error error = checkLauncher(*result->transport))
      return std::move(error);
  }
  result->group = mp_rt_group_create(int(result->ranks), result->transport);
  if (!result->group)
    return createStringError(
        llvm::formatv("@{0} is for {1} ranks, which {2} processes cannot host in equal numbers; "
                      "start a number of processes that divides {1}",
                      (*function).getName(), result->ranks, result->processes())
            .str());
  if (llvm::Error error = result->setDeadline())
    return std::move(error);
  auto program = Program::compile(module, entry, options);
  if (!program)
    return program.takeError();
  result->program = std::move(*program);
  result->types = result->program->signature();
  for (auto [i, parameter] : llvm::enumerate(result->types.arguments)) {
    result->argumentDims.push_back(
        numberOf(function->getArgAttr(unsigned(i), comm::kShardAttrName)));
    makeWhole(parameter, result->argumentDims.back(), result->ranks);
  }
  for (auto [i, parameter] : llvm::enumerate(result->types.results)) {
    result->resultDims.push_back(
        numberOf(function->getResultAttr(unsigned(i), comm::kShardAttrName)));
    makeWhole(parameter, result->resultDims.back(), result->ranks);
    result->resultRanks.push_back(
        numberOf(function->getResultAttr(unsigned(i), comm::kStageAttrName)));
  }
  result->failed = false;
  return result;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Calls `copy(offset in the whole, offset in the part, bytes)` for each block of rank `rank`.
template <typename Copy>
static void forEachBlock(const Array &whole, int64_t dim, int64_t ranks, int64_t rank, Copy copy) {
  int64_t outer = 1, inner = whole.type.bytes();
  for (auto [i, extent] : llvm::enumerate(whole.shape))
    (int64_t(i) < dim ? outer : inner) *= extent;
  int64_t own = inner / ranks;
  for (int64_t i = 0; i < outer; ++i)
    copy(i * inner + rank * own, i * own, own);
}

static Array partOf(const Array &whole, int64_t dim, int64_t ranks, int64_t rank) {
  llvm::SmallVector<int64_t> shape(whole.shape);
  shape[size_t(dim)] /= ranks;
  Array part(whole.type, shape);
  forEachBlock(whole, dim, ranks, rank, [&](int64_t from, int64_t to, int64_t bytes) {
    std::memcpy(part.data.data() + to, whole.data.data() + from, size_t(bytes));
  });
  return part;
}

llvm::Expected<Array> DistributedProgram::fetch(size_t result, int64_t rank,
                                                llvm::ArrayRef<std::vector<Array>> outcomes) const {
  const int64_t count = mp_rt_group_count(group);
  Array own = outcomes[size_t(rank % count)][result];
  if (!transport)
    return own;
  std::vector<char> all(own.data.size() * size_t(processes()));
  if (transport->all_gather(transport->state, own.data.data(), all.data(), int64_t(own.data.size()),
                            deadline))
    return createStringError(transport->error(transport->state));
  std::memcpy(own.data.data(), all.data() + size_t(rank / count) * own.data.size(),
              own.data.size());
  return own;
}

/// The result of all ranks from those of the ranks hosted here, and in other processes.
llvm::Expected<Array>
DistributedProgram::assemble(size_t result, llvm::ArrayRef<std::vector<Array>> outcomes) const {
  const Array &own = outcomes.front()[result];
  std::optional<int64_t> dim = resultDims[result];
  if (resultRanks[result])
    return fetch(result, *resultRanks[result], outcomes);
  if (!dim) {
    for (size_t i = 1; i < outcomes.size(); ++i)
      if (outcomes[i][result].data != own.data)
        return createStringError(
            llvm::formatv("ranks {0} and {1} hold different values of result {2}, which all hold "
                          "whole; the program does not do the same in all ranks",
                          mp_rt_group_first(group), mp_rt_group_first(group) + int(i), result)
                .str());
    return own;
  }
  std::vector<char> parts;
  for (const std::vector<Array> &outcome : outcomes)
    parts.insert(parts.end(), outcome[result].data.begin(), outcome[result].data.end());
  if (transport) {
    std::vector<char> all(parts.size() * size_t(processes()));
    if (transport->all_gather(transport->state, parts.data(), all.data(), int64_t(parts.size()),
                              deadline))
      return createStringError(transport->error(transport->state));
    parts = std::move(all);
  }
  Array whole(own.type, types.results[result].shape);
  for (int64_t rank = 0; rank < ranks; ++rank)
    forEachBlock(whole, *dim, ranks, rank, [&](int64_t to, int64_t from, int64_t bytes) {
      std::memcpy(whole.data.data() + to, parts.data() + rank * int64_t(own.data.size()) + from,
                  size_t(bytes));
    });
  return whole;
}

/// All processes must hold the same of what ranks hold whole, as those of one process must.
llvm::Error DistributedProgram::compareProcesses(llvm::ArrayRef<Array> results) const {
  if (processes() == 1)
    return llvm::Error::success();
  std::vector<uint64_t> own(results.size() + 1);
  for (auto [i, result] : llvm::enumerate(results))
    own[i] = llvm::xxh3_64bits(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(result.data.data()), result.data.size()));
  std::vector<uint64_t> all(own.size() * size_t(processes()));
  if (transport->all_gather(transport->state, own.data(), all.data(),
                            int64_t(own.size() * sizeof(uint64_t)), deadline))
    return createStringError(transport->error(transport->state));
  for (size_t at = 0; at < all.size(); ++at)
    if (size_t result = at % own.size(); all[at] != all[result])
      return createStringError(
          llvm::formatv("processes 0 and {0} hold different values of result {1}, which all hold "
                        "whole; the program does not do the same in all ranks",
                        at / own.size(), result)
              .str());
  return llvm::Error::success();
}

llvm::Expected<std::string> DistributedProgram::gather(llvm::StringRef own) {
  if (!transport)
    return own.str();
  std::string all(own.size() * size_t(processes()), '\0');
  if (transport->all_gather(transport->state, own.data(), all.data(), int64_t(own.size()),
                            deadline))
    return fail(createStringError(transport->error(transport->state)));
  return all;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

llvm::Error DistributedProgram::fail(llvm::Error error) {
  failed = true;
  return error;
}

llvm::Expected<std::vector<Array>> DistributedProgram::run(llvm::ArrayRef<Array> arguments) {
  if (llvm::Error error = checkArguments(arguments))
    return fail(std::move(error));
  size_t hosted = size_t(mp_rt_group_count(group));
  int first = mp_rt_group_first(group);
  std::vector<std::vector<Array>> outcomes(hosted);
  std::vector<std::string> errors(hosted);
  std::vector<int64_t> peaks(hosted);
  auto runRank = [&](size_t i) {
    int rank = first + int(i);
    std::vector<Array> own;
    for (auto [argument, dim] : llvm::zip_equal(arguments, argumentDims))
      own.push_back(dim ? partOf(argument, *dim, ranks, rank) : argument);
    mp_rt_group_enter(group, rank);
    auto outcome = program->call(own, peaks[i]);
    mp_rt_group_leave();
    if (outcome) {
      outcomes[i] = std::move(*outcome);
      return;
    }
    errors[i] = llvm::formatv("rank {0}: {1}", rank, llvm::toString(outcome.takeError())).str();
    mp_rt_group_fail(group, errors[i].c_str());
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < hosted; ++i)
    threads.emplace_back(runRank, i);
  runRank(0);
  for (std::thread &thread : threads)
    thread.join();
  peak = *llvm::max_element(peaks);
  mp_rt_group_end_call(group);
  // The first reason is the cause; those who waited for that rank fail with it.
  if (const char *reason = mp_rt_group_error(group))
    return fail(createStringError(reason));
  std::vector<Array> results;
  for (size_t i = 0; i < types.results.size(); ++i) {
    auto result = assemble(i, outcomes);
    if (!result)
      return fail(result.takeError());
    results.push_back(std::move(*result));
  }
  if (llvm::Error error = compareProcesses(results))
    return fail(std::move(error));
  return results;
}

llvm::Expected<std::string> DistributedProgram::summary() {
  int64_t own[] = {mp_rt_group_messages(group), mp_rt_group_message_bytes(group)};
  auto all = gather(StringRef(reinterpret_cast<const char *>(own), sizeof(own)));
  if (!all)
    return all.takeError();
  int64_t messages = 0, bytes = 0;
  for (; !all->empty(); all->erase(0, sizeof(own))) {
    std::memcpy(own, all->data(), sizeof(own));
    messages += own[0];
    bytes += own[1];
  }
  std::string text = llvm::formatv("{0} ranks in {1} processes; ", ranks, processes());
  if (messages > 0)
    return text +
           llvm::formatv("{0} messages, {1} bytes sent between ranks", messages, bytes).str();
  return text + llvm::formatv("{0} collectives, {1} bytes sent by each rank; up to {2} under way "
                              "while a rank computes",
                              mp_rt_group_calls(group), mp_rt_group_bytes_sent(group),
                              mp_rt_group_most_under_way(group))
                    .str();
}
