// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the file of mp-train; every key that is not known is an error.

#include "TrainConfig.h"

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Support/Files.h"
#include "mp/Support/JSON.h"
#include "mp/Support/Words.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <functional>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

namespace {
/// Reads the keys of one object; what is not asked for is refused.
class KeyReader {
public:
  using Take = std::function<bool(const llvm::json::Value &)>;

  void text(StringRef key, std::string &target) {
    add(key, "a string", [&](const llvm::json::Value &value) {
      auto found = value.getAsString();
      if (found)
        target = found->str();
      return found.has_value();
    });
  }
  void integer(StringRef key, int64_t &target, int64_t least) {
    add(key, "an integer of at least " + std::to_string(least),
        [&, least](const llvm::json::Value &value) {
          auto found = value.getAsInteger();
          if (found)
            target = *found;
          return found && *found >= least;
        });
  }
  void number(StringRef key, double &target) {
    add(key, "a positive number", [&](const llvm::json::Value &value) {
      auto found = value.getAsNumber();
      if (found)
        target = *found;
      return found && *found > 0;
    });
  }
  void texts(StringRef key, std::vector<std::string> &target) {
    add(key, "an array of strings", [&](const llvm::json::Value &value) {
      const llvm::json::Array *list = value.getAsArray();
      for (const llvm::json::Value &entry : list ? *list : llvm::json::Array()) {
        auto found = entry.getAsString();
        if (!found)
          return false;
        target.push_back(found->str());
      }
      return list != nullptr;
    });
  }
  void add(StringRef key, std::string expected, Take take) {
    keys.push_back({key, std::move(expected), std::move(take)});
  }

  llvm::Error read(const llvm::json::Value &value, const Twine &where) {
    const llvm::json::Object *object = value.getAsObject();
    if (!object)
      return createStringError(where + ": expected an object");
    SmallVector<StringRef> names;
    for (const Key &key : keys)
      names.push_back(key.name);
    for (const auto &[name, entry] : *object) {
      auto key = llvm::find_if(keys, [&](const Key &known) { return known.name == name.str(); });
      if (key == keys.end())
        return createStringError(where + ": unknown key '" + name.str() + "'" +
                                 support::suggestWord(name.str(), names));
      if (!key->take(entry))
        return createStringError(where + ": '" + key->name +
                                 "' is not what it should be: expected " + key->expected +
                                 ", found " + llvm::formatv("{0}", entry).str().substr(0, 200));
    }
    return llvm::Error::success();
  }

private:
  struct Key {
    StringRef name;
    std::string expected;
    Take take;
  };
  std::vector<Key> keys;
};
} // namespace

/// An object within the file, whose own error is what is told.
static void addObject(KeyReader &reader, StringRef key, KeyReader &inner, llvm::Error &error) {
  reader.add(key, "an object", [&, key](const llvm::json::Value &value) {
    if (llvm::Error wrong = inner.read(value, "'" + key + "'"))
      error = llvm::joinErrors(std::move(error), std::move(wrong));
    return true;
  });
}

static void addPlace(KeyReader &reader, Place &place) {
  reader.add("device", "cpu, emulator or cuda", [&](const llvm::json::Value &value) {
    place.device = value.getAsString().value_or("").str();
    return is_contained({"cpu", "emulator", "cuda"}, StringRef(place.device));
  });
  reader.text("chip", place.chip);
}

/// Reads each object of a list; its own error is what is told. False if `add` refuses one.
static bool takeObjects(const llvm::json::Value &value, StringRef where, KeyReader &inner,
                        llvm::Error &error, llvm::function_ref<bool()> add) {
  const llvm::json::Array *list = value.getAsArray();
  for (const llvm::json::Value &entry : list ? *list : llvm::json::Array()) {
    if (llvm::Error wrong = inner.read(entry, where)) {
      error = llvm::joinErrors(std::move(error), std::move(wrong));
      return true;
    }
    if (!add())
      return false;
  }
  return list != nullptr;
}

static bool takeStrategies(const llvm::json::Value &value, TrainConfig &config,
                           llvm::Error &error) {
  Strategy strategy;
  KeyReader keys;
  keys.text("name", strategy.name);
  keys.text("assign", strategy.assign);
  return takeObjects(value, "'strategies'", keys, error, [&] {
    const bool isNew = !strategy.name.empty() && !config.findStrategy(strategy.name);
    config.strategies.push_back(std::exchange(strategy, {}));
    return isNew;
  });
}

static bool takeSchedule(const llvm::json::Value &value, TrainConfig &config, llvm::Error &error) {
  std::pair<int64_t, std::string> change(-1, "");
  KeyReader keys;
  keys.integer("from", change.first, 0);
  keys.text("strategy", change.second);
  return takeObjects(value, "'schedule'", keys, error, [&] {
    const int64_t last = config.schedule.empty() ? -1 : config.schedule.back().first;
    const bool isLater = change.first > last && !change.second.empty();
    config.schedule.push_back(std::exchange(change, {-1, ""}));
    return isLater;
  });
}

const Strategy *TrainConfig::findStrategy(StringRef name) const {
  auto found = llvm::find_if(strategies, [&](const Strategy &s) { return s.name == name; });
  return found == strategies.end() ? nullptr : &*found;
}

bool TrainConfig::canaryHas(int64_t since) const {
  if (since >= canarySteps())
    return true;
  const double share = canaryShares[size_t(since / (canaryBlock * canaryBlocks))];
  return double(since % canaryBlock) < share * double(canaryBlock);
}

static bool takeShares(const llvm::json::Value &value, std::vector<double> &shares) {
  const llvm::json::Array *list = value.getAsArray();
  for (const llvm::json::Value &entry : list ? *list : llvm::json::Array()) {
    auto share = entry.getAsNumber();
    if (!share || !(*share > (shares.empty() ? 0 : shares.back())) || !(*share < 1))
      return false;
    shares.push_back(*share);
  }
  return list && !list->empty();
}

static void addCanary(KeyReader &canary, TrainConfig &config) {
  canary.add("shares", "an array of numbers above 0 and below 1, ascending",
             [&](const llvm::json::Value &list) { return takeShares(list, config.canaryShares); });
  canary.integer("block", config.canaryBlock, 1);
  canary.integer("blocks", config.canaryBlocks, 1);
  canary.integer("shadow", config.shadowSteps, 1);
  canary.number("within", config.shadowWithin);
}

/// Says what a key needs that is not there, and without which it would be in vain.
static std::string findLacking(const llvm::json::Object &given, const TrainConfig &config) {
  const llvm::json::Object *states = given.getObject("checkpoints");
  if (states && !states->empty() && config.folder.empty())
    return "'checkpoints' has no 'folder': expected where states are kept, or no 'checkpoints'";
  if (!config.validationInputs.empty() && config.validateEvery == 0)
    return "'validation' has no 'every': expected after how many steps to validate";
  if (config.validateEvery > 0 && config.validationInputs.empty())
    return "'validation' has no 'inputs': expected those of data held out";
  if (config.validateEvery > config.steps)
    return llvm::formatv("'validation' is due after {0} steps, which is not reached: expected "
                         "'every' to be at most 'steps', {1}",
                         config.validateEvery, config.steps);
  const llvm::json::Object *recovery = given.getObject("recovery");
  for (StringRef key : {"good-after", "max-rollbacks", "wide-for", "skip-before", "max-restarts"})
    if (recovery && recovery->get(key) && config.folder.empty())
      return llvm::formatv("'recovery' has '{0}', and goes back to states: expected 'checkpoints' "
                           "with 'folder'",
                           key);
  if (!config.canaryShares.empty() && config.folder.empty())
    return "'canary' goes back to a state at the first alarm: expected 'checkpoints' with 'folder'";
  const llvm::json::Object *canary = given.getObject("canary");
  if (canary && config.schedule.empty())
    return "'canary' is about strategies that a schedule begins: expected 'schedule', or no "
           "'canary'";
  if (canary && config.canaryShares.empty() && (canary->get("block") || canary->get("blocks")))
    return "'canary' has no 'shares': expected them beside 'block' and 'blocks'";
  if (canary && canary->get("within") && config.shadowSteps == 0)
    return "'canary' has no 'shadow': expected for how many steps to try a strategy 'within'";
  for (const auto &[from, name] : config.schedule)
    if (from >= config.steps)
      return llvm::formatv("'schedule' begins '{0}' at step {1}, which is not reached: expected "
                           "less than 'steps', {2}",
                           name, from, config.steps);
  const llvm::json::Object *requirements = given.getObject("requirements");
  if (requirements && !requirements->empty() && !config.chooses())
    return llvm::formatv("'requirements' choose a strategy, and '{0}' is named: expected "
                         "'strategy' to be 'auto' or 'fastest', or no 'requirements'",
                         config.strategy);
  return "";
}

llvm::Expected<TrainConfig> TrainConfig::read(StringRef path) {
  auto buffer = support::readFile(path, path);
  if (!buffer)
    return buffer.takeError();
  auto value = mpcore::support::parseJSON((*buffer)->getBuffer());
  if (!value)
    return createStringError("'" + path + "': " + llvm::toString(value.takeError()));
  TrainConfig config;
  llvm::SHA256 hash;
  hash.update((*buffer)->getBuffer());
  config.hash = llvm::toHex(hash.final(), /*LowerCase=*/true);
  llvm::Error inner = llvm::Error::success();
  KeyReader reader, requirements, checkpoints, recovery, canary, validation;
  requirements.number("max-error", config.maxError);
  requirements.number("max-microseconds", config.maxMicroseconds);
  requirements.integer("max-bytes", config.maxBytes, 1);
  checkpoints.text("folder", config.folder);
  checkpoints.integer("every", config.saveEvery, 1);
  checkpoints.integer("keep", config.keep, 1);
  recovery.integer("good-after", config.goodAfter, 0);
  recovery.integer("max-rollbacks", config.maxRollbacks, 0);
  recovery.integer("wide-for", config.wideFor, 1);
  recovery.integer("skip-before", config.skipBefore, 0);
  recovery.integer("max-restarts", config.maxRestarts, 0);
  recovery.integer("verify-every", config.verifyEvery, 0);
  addCanary(canary, config);
  validation.texts("inputs", config.validationInputs);
  validation.integer("every", config.validateEvery, 1);
  validation.integer("batches", config.validationBatches, 1);
  int64_t seed = 0;
  reader.text("step", config.step);
  reader.text("entry", config.entry);
  reader.texts("inputs", config.inputs.inputs);
  reader.text("params", config.inputs.params);
  reader.integer("seed", seed, 0);
  reader.integer("steps", config.steps, 1);
  reader.add("strategies", "an array of objects with a name of their own each, and 'assign'",
             [&](const llvm::json::Value &list) { return takeStrategies(list, config, inner); });
  reader.text("strategy", config.strategy);
  reader.add("schedule", "an array of objects with 'from', ascending, and 'strategy'",
             [&](const llvm::json::Value &list) { return takeSchedule(list, config, inner); });
  addPlace(reader, config.place);
  reader.text("log", config.log);
  addObject(reader, "requirements", requirements, inner);
  addObject(reader, "checkpoints", checkpoints, inner);
  addObject(reader, "recovery", recovery, inner);
  addObject(reader, "canary", canary, inner);
  addObject(reader, "validation", validation, inner);
  llvm::Error error = reader.read(*value, "'" + path + "'");
  if (llvm::Error all = llvm::joinErrors(std::move(error), std::move(inner)))
    return std::move(all);
  config.inputs.seed = uint64_t(seed);
  auto fail = [&](const Twine &what) { return createStringError("'" + path + "': " + what); };
  if (config.step.empty() || config.steps < 1)
    return fail("expected 'step', the file of a train step, and 'steps', how often to run it");
  if (config.strategies.empty())
    return fail("expected 'strategies' with at least one, as {\"name\": \"bf16\", \"assign\": "
                "\"format=bf16\"}");
  if (std::string wrong = findLacking(*value->getAsObject(), config); !wrong.empty())
    return fail(wrong);
  std::vector<std::string> asked;
  if (!config.chooses())
    asked.push_back(config.strategy);
  for (const auto &[from, name] : config.schedule)
    asked.push_back(name);
  for (const std::string &name : asked)
    if (!config.findStrategy(name))
      return fail("'strategies' has none of the name '" + name + "'");
  // Paths are beside the file.
  if (llvm::sys::path::is_relative(config.step)) {
    SmallString<128> beside = llvm::sys::path::parent_path(path);
    llvm::sys::path::append(beside, config.step);
    config.step = beside.str().str();
  }
  return config;
}
