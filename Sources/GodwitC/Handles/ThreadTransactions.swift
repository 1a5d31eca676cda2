import Foundation
import Synchronization

/// The transactions that a thread has open. When it ends they are rolled back: nobody else could end them, and others
/// would wait for ever.
final class ThreadTransactions: Sendable {
  private let open = Mutex<[ObjectIdentifier: OpenTransaction]>([:])

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { place in
      guard let place else { return }
      let transactions = Unmanaged<ThreadTransactions>.fromOpaque(place)
      transactions.takeUnretainedValue().rollBack()
      transactions.release()
    }
    return key
  }()

  /// Those of the calling thread.
  static var here: ThreadTransactions {
    if let place = pthread_getspecific(key) {
      return Unmanaged<ThreadTransactions>.fromOpaque(place).takeUnretainedValue()
    }
    let transactions = ThreadTransactions()
    pthread_setspecific(key, Unmanaged.passRetained(transactions).toOpaque())
    return transactions
  }

  func add(_ transaction: OpenTransaction) { open.withLock { $0[ObjectIdentifier(transaction)] = transaction } }

  func remove(_ transaction: OpenTransaction) { open.withLock { $0[ObjectIdentifier(transaction)] = nil } }

  private func rollBack() {
    // In the child of a fork the threads that would answer are not there.
    guard (try? HandleTable.requireProcess()) != nil else { return }
    for transaction in open.withLock({ Array($0.values) }) { transaction.abandon() }
  }
}
