// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Data.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mpcore::performance;
using llvm::StringRef;

/// Microseconds of a measured value in a unit.
static llvm::Expected<double> microsecondsOf(const Problem &problem, StringRef text,
                                             StringRef unit) {
  double value = 0;
  if (text.getAsDouble(value) || !(value > 0))
    return llvm::createStringError("expected a value above 0, found '" + text + "'");
  if (unit == "us")
    return value;
  if (unit == "TFLOP/s")
    return 2 * multiplyAdds(problem) / (value * 1e12) * 1e6;
  if (unit == "GB/s")
    return minimumBytes(problem) / (value * 1e9) * 1e6;
  return llvm::createStringError("expected us, TFLOP/s or GB/s, found '" + unit + "'");
}

static llvm::Expected<fitmodel::Point> readPublished(llvm::ArrayRef<StringRef> fields) {
  llvm::Expected<const Part &> part = findPart(fields[0]);
  if (!part)
    return part.takeError();
  llvm::Expected<Problem> problem = parseProblem(fields[1]);
  if (!problem)
    return problem.takeError();
  llvm::Expected<double> time = microsecondsOf(*problem, fields[2], fields[3]);
  if (!time)
    return time.takeError();
  std::optional<Schedule> schedule;
  if (fields.size() > 5) {
    llvm::Expected<Schedule> read = parseSchedule(fields[5]);
    if (!read)
      return read.takeError();
    schedule = *read;
  }
  return fitmodel::Point{&*part, *problem, schedule, *time, fields[4].str()};
}

static llvm::Expected<fitmodel::Point> readListed(llvm::ArrayRef<StringRef> fields) {
  const StringRef name = fields[0] == "sm_90"         ? "H100 SXM"
                         : fields[0] == "sm_100_B200" ? "B200"
                                                      : fields[0];
  llvm::Expected<const Part &> part = findPart(name);
  if (!part)
    return part.takeError();
  auto [operands, result] = fields[1].split("->");
  StringRef format = operands.split('x').first;
  MatmulProblem p;
  p.format = format == "f32" ? "tf32"
                             : mpcore::target::canonicalFormatName(format == "f8e4m3fn" ? "e4m3"
                                                                   : format == "f8e5m2" ? "e5m2"
                                                                                        : format)
                                   .str();
  p.result = result.str();
  double time = 0;
  if (fields[2].getAsInteger(10, p.batch) || fields[3].getAsInteger(10, p.m) ||
      fields[4].getAsInteger(10, p.n) || fields[5].getAsInteger(10, p.k) ||
      fields[6].getAsDouble(time) || !(time > 0) || !storageBits(p.format) ||
      !storageBits(p.result))
    return llvm::createStringError("expected device,types,batch,m,n,k,us");
  return fitmodel::Point{&*part, p, std::nullopt, time, "openxla/xla default_matmul_perf_table"};
}

llvm::Expected<std::vector<fitmodel::Point>> fitmodel::readPoints(StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError("cannot read " + file + ": " + buffer.getError().message());
  std::vector<Point> points;
  for (llvm::line_iterator line(**buffer, /*SkipBlanks=*/true, '#'); !line.is_at_end(); ++line) {
    llvm::SmallVector<StringRef, 8> fields;
    const bool published = line->contains(';');
    line->split(fields, published ? ';' : ',');
    for (StringRef &field : fields)
      field = field.trim();
    if (fields.front() == "device" || fields.front() == "part")
      continue; // names of the columns
    const size_t expected = published ? 5 : 7;
    llvm::Expected<Point> point =
        fields.size() != expected && !(published && fields.size() == 6)
            ? llvm::createStringError("expected " + llvm::Twine(expected) + " fields, found " +
                                      llvm::Twine(fields.size()))
        : published ? readPublished(fields)
                    : readListed(fields);
    if (!point)
      return llvm::createStringError(file + ":" + llvm::Twine(line.line_number()) + ": " +
                                     llvm::toString(point.takeError()));
    points.push_back(std::move(*point));
  }
  return points;
}
