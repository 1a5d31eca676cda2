// The header in C++, with what it gives wrapped as C++ does. `sample FOLDER`, an empty one.
#include "godwit.h"

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

static void require(int code) {
  if (code == GODWIT_OK) return;
  const godwit_error *error = godwit_last_error();
  throw std::runtime_error(std::string(error->name) + ": " + error->message);
}

struct Closing {
  void operator()(godwit_replica *replica) const { godwit_close(replica); }
  void operator()(char *text) const { godwit_free(text); }
  // A transaction that nobody has committed.
  void operator()(godwit_transaction *transaction) const { godwit_rollback(transaction); }
};

int main(int count, char **arguments) {
  if (count != 2) return 2;
  try {
    godwit_options options = GODWIT_OPTIONS;
    options.name = "sample";
    godwit_replica *opened = nullptr;
    require(godwit_open((std::string(arguments[1]) + "/notes").c_str(), &options, &opened));
    std::unique_ptr<godwit_replica, Closing> replica(opened);

    godwit_transaction *begun = nullptr;
    require(godwit_begin(replica.get(), GODWIT_WRITE, &begun));
    std::unique_ptr<godwit_transaction, Closing> transaction(begun);
    require(godwit_put(transaction.get(), "people", "ada", "{\"name\": \"Ada\"}", 0));
    char *found = nullptr;
    require(godwit_get(transaction.get(), "people", "ada", &found));
    std::unique_ptr<char, Closing> json(found);
    std::cout << json.get() << "\n";
    require(godwit_commit(transaction.release()));

    int unexpected = godwit_open(nullptr, nullptr, &opened);
    if (unexpected != GODWIT_MISUSE) return 3;
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  std::cout << "sampled\n";
}
