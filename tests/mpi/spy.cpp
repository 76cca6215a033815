// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Loaded before MPI (LD_PRELOAD), writes every byte that a process hands to MPI for sending to
// $POLYHOP_SPY/RANK.PROCESS, message after message. It stands before each sending call that the library uses;
// private_test.py fails when the command uses another.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace {

std::size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

class Spy {
 public:
  void see(const void* content, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (file_ < 0) open_file();
    for (const char* rest = static_cast<const char*>(content); bytes > 0;) {
      const ssize_t done = write(file_, rest, bytes);
      if (done < 0) std::abort();
      rest += done;
      bytes -= static_cast<std::size_t>(done);
    }
  }
  void see(const void* content, int count, MPI_Datatype type) { see(content, bytes_of(count, type)); }

  // Of a request that is started again and again: what it sends, at each start.
  void keep(MPI_Request request, const void* content, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    kept_[request] = {content, bytes};
  }
  void forget(MPI_Request request) {
    const std::lock_guard lock(mutex_);
    kept_.erase(request);
  }
  void start(MPI_Request request) {
    Kept found;
    {
      const std::lock_guard lock(mutex_);
      const auto place = kept_.find(request);
      if (place == kept_.end()) return;  // it receives
      found = place->second;
    }
    see(found.content, found.bytes);
  }

 private:
  struct Kept {
    const void* content = nullptr;
    std::size_t bytes = 0;
  };

  void open_file() {
    const char* folder = std::getenv("POLYHOP_SPY");
    if (folder == nullptr) std::abort();
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::string name = std::string(folder) + "/" + std::to_string(rank) + "." + std::to_string(getpid());
    file_ = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file_ < 0) std::abort();
  }

  std::mutex mutex_;
  int file_ = -1;
  std::map<MPI_Request, Kept> kept_;
};

// Never destroyed: other threads may send until the very end.
Spy& spy() {
  static auto* one = new Spy;
  return *one;
}

}  // namespace

extern "C" {

int MPI_Isend(const void* content, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  spy().see(content, count, type);
  return PMPI_Isend(content, count, type, to, tag, comm, request);
}

int MPI_Send_init(const void* content, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int result = PMPI_Send_init(content, count, type, to, tag, comm, request);
  spy().keep(*request, content, bytes_of(count, type));
  return result;
}

int MPI_Startall(int count, MPI_Request* requests) {
  for (int n = 0; n < count; ++n) spy().start(requests[n]);
  return PMPI_Startall(count, requests);
}

int MPI_Request_free(MPI_Request* request) {
  spy().forget(*request);
  return PMPI_Request_free(request);
}

}  // extern "C"
