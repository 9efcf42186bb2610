// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves bytes between processes by MPI (3.1): a library of its own, so that the runtime needs none.

#include "mp/Runtime/Collectives.h"

#include <mpi.h>

#include <chrono>
#include <climits>
#include <cstdio>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string text;

int failed(int code, const char *what) {
  char words[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, words, &length);
  text = std::string(what) + ": " + std::string(words, size_t(length));
  return 1;
}

/// Waits by asking: MPI has no deadline, and a process that loops is noticed by nobody else.
int finish(MPI_Request request, double seconds, const char *what) {
  auto start = std::chrono::steady_clock::now();
  for (int64_t asked = 0;; ++asked) {
    int done = 0;
    if (int code = MPI_Test(&request, &done, MPI_STATUS_IGNORE))
      return failed(code, what);
    if (done)
      return 0;
    std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    if (waited.count() > seconds) {
      char number[32];
      std::snprintf(number, sizeof(number), "%g", seconds);
      text = std::string(what) + ": waited " + number +
             " s for other processes, of which one has stopped or is in another collective";
      return 1;
    }
    if (asked > 1000)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

int tooLarge(int64_t bytes, const char *what) {
  if (bytes <= INT_MAX)
    return 0;
  text = std::string(what) + ": a block for one process has " + std::to_string(bytes) +
         " bytes, expected at most " + std::to_string(INT_MAX) + "; use more processes";
  return 1;
}

int allToAll(void *, const void *send, void *receive, int64_t bytes, double seconds) {
  if (tooLarge(bytes, "MPI_Ialltoall"))
    return 1;
  MPI_Request request;
  if (int code = MPI_Ialltoall(send, int(bytes), MPI_BYTE, receive, int(bytes), MPI_BYTE,
                               MPI_COMM_WORLD, &request))
    return failed(code, "MPI_Ialltoall");
  return finish(request, seconds, "MPI_Ialltoall");
}

int allGather(void *, const void *send, void *receive, int64_t bytes, double seconds) {
  if (tooLarge(bytes, "MPI_Iallgather"))
    return 1;
  MPI_Request request;
  if (int code = MPI_Iallgather(send, int(bytes), MPI_BYTE, receive, int(bytes), MPI_BYTE,
                                MPI_COMM_WORLD, &request))
    return failed(code, "MPI_Iallgather");
  return finish(request, seconds, "MPI_Iallgather");
}

int startAllToAll(void *, const void *send, void *receive, int64_t bytes, void **request) {
  if (tooLarge(bytes, "MPI_Ialltoall"))
    return 1;
  auto *own = new MPI_Request;
  *request = own;
  if (int code = MPI_Ialltoall(send, int(bytes), MPI_BYTE, receive, int(bytes), MPI_BYTE,
                               MPI_COMM_WORLD, own))
    return failed(code, "MPI_Ialltoall");
  return 0;
}

int wait(void *, void *request, double seconds) {
  std::unique_ptr<MPI_Request> own(static_cast<MPI_Request *>(request));
  return finish(*own, seconds, "MPI_Ialltoall");
}

/// Holds what is on its way.
struct Message {
  std::vector<char> data;
  MPI_Request request;
};
std::list<Message> onTheWay;

/// Forgets what has arrived, which also lets MPI move the rest.
int forgetArrived() {
  for (auto message = onTheWay.begin(); message != onTheWay.end();) {
    int done = 0;
    if (int code = MPI_Test(&message->request, &done, MPI_STATUS_IGNORE))
      return failed(code, "MPI_Isend");
    message = done ? onTheWay.erase(message) : std::next(message);
  }
  return 0;
}

int send(void *, int process, int tag, const void *data, int64_t bytes) {
  if (tooLarge(bytes, "MPI_Isend") || forgetArrived())
    return 1;
  const char *begin = static_cast<const char *>(data);
  Message &message = onTheWay.emplace_back(Message{{begin, begin + bytes}, MPI_REQUEST_NULL});
  if (int code = MPI_Isend(message.data.data(), int(bytes), MPI_BYTE, process, tag, MPI_COMM_WORLD,
                           &message.request))
    return failed(code, "MPI_Isend");
  return 0;
}

int receive(void *, int process, int tag, void *data, int64_t bytes) {
  if (tooLarge(bytes, "MPI_Recv") || forgetArrived())
    return 1;
  int isThere = 0, found = 0;
  MPI_Status status;
  if (int code = MPI_Iprobe(process, tag, MPI_COMM_WORLD, &isThere, &status))
    return failed(code, "MPI_Iprobe");
  if (!isThere)
    return MP_RT_NOT_YET;
  MPI_Get_count(&status, MPI_BYTE, &found);
  if (found != bytes) {
    text = "expected a message of " + std::to_string(bytes) + " bytes from process " +
           std::to_string(process) + ", found " + std::to_string(found);
    return 1;
  }
  if (int code =
          MPI_Recv(data, int(bytes), MPI_BYTE, process, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
    return failed(code, "MPI_Recv");
  return 0;
}

const char *error(void *) { return text.c_str(); }

void abortAll(void *, int code) { MPI_Abort(MPI_COMM_WORLD, code); }

mp_rt_transport table = {nullptr,  0,    1,       allToAll,      allGather, error,
                         abortAll, send, receive, startAllToAll, wait};

} // namespace

extern "C" {

/// Starts MPI; returns the table, or null with the reason in `why`.
const mp_rt_transport *mp_transport_open(const char **why) {
  int given = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given) != MPI_SUCCESS ||
      given < MPI_THREAD_SERIALIZED) {
    *why = "MPI does not serve threads that take turns (MPI_THREAD_SERIALIZED)";
    return nullptr;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &table.process);
  MPI_Comm_size(MPI_COMM_WORLD, &table.processes);
  return &table;
}

void mp_transport_close(void) {
  for (Message &message : onTheWay)
    MPI_Wait(&message.request, MPI_STATUS_IGNORE);
  MPI_Finalize();
}
}
