import Foundation
import Godwit

/// Two rows that every transaction leaves equal, beside rows that come and go.
struct Account: Model {
  static let schema = Schema<Self>("account") {
    Column("balance", \.balance)
    Column("note", \.note)
  }
  var id = 0
  var balance = 0
  var note = "plaintext-marker-5f1d"
}

/// A program to be killed at any moment. It writes a byte to its standard output for each step it has made.
@main
struct KillSubject {
  static func main() async throws {
    DatabaseSource.Reader.serveIfAsked()
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else { exit(64) }
    switch arguments[1] {
    case "make-first-version": return try await MigrationSubject.make(arguments[2])
    case "migrate": return try await MigrationSubject.migrate(arguments[2])
    case "trap": return trap(isProtected: arguments[2] == "protected")
    case "fence": try FenceSubject.run(arguments[2])
    case "keyring": return try await rewriteKeyring(arguments[2])
    case "relative" where arguments.count > 3: return try await useRelative(arguments[2], in: arguments[3])
    case "hold" where arguments.count > 3:
      try await use(arguments[2], file: arguments[3])
      step()
      _ = readLine()
      return
    case "restore" where arguments.count > 3: return try await DatabaseSubject.restore(arguments[3], to: arguments[2])
    default: break
    }
    let replica = try await Replica.open(at: arguments[2], models: Account.self)
    switch arguments[1] {
    case "make": _ = try await replica.write { try $0.save(Account(id: 1)) }
    case "write": try await write(replica)
    case "rotate-identity": try await rotateIdentity(replica)
    case "rekey": try await DatabaseSubject.rekey(replica, step: step)
    case "backup" where arguments.count > 3:
      try await DatabaseSubject.backUp(replica, to: arguments[3], step: step)
    case "compact":
      step()
      try await replica.maintenance.compact()
    case "cache": try await CacheSubject.write(replica, step: step)
    case "cache-compute" where arguments.count > 3: try await CacheSubject.compute(replica, log: arguments[3])
    case "document" where arguments.count > 4:
      try await replica.documents("shared").merge(arguments[3], json: arguments[4])
    case "import" where arguments.count > 3:
      _ = try await replica.import(from: .file(arguments[3])) { _ in step() }
    default: exit(64)
    }
    await replica.close()
  }

  /// Ends by a check of Swift's, as a program with a mistake in it does.
  private static func trap(isProtected: Bool) {
    if isProtected { SecretProtection.disableCrashReports() }
    let none: [String] = []
    print(none[CommandLine.arguments.count])
  }

  /// Opens a replica and keys by relative paths, and goes to another folder before it uses them.
  private static func useRelative(_ path: String, in folder: String) async throws {
    guard chdir(folder) == 0 else { exit(1) }
    let key = Replica.KeySource.keyring(at: "keys/ring", openedBy: [.machineKey(at: "keys/machine")])
    let replica = try await Replica.open(
      at: path, models: Account.self, configuration: .init(key: key, idleTimeout: .milliseconds(1)))
    guard chdir("/") == 0 else { exit(1) }
    try await Task.sleep(for: .milliseconds(100))
    _ = try await replica.write { try $0.save(Account(id: 1)) }
    _ = try await replica.cache("c").set("k", Data([1]))
    try await replica.maintenance.rekey()
    guard try await replica.members.list().count == 1, replica.path == "\(folder)/\(path)" else { exit(1) }
    await replica.close()
  }

  private static func step() { FileHandle.standardOutput.write(Data([0x2E])) }

  /// Uses every key there is, then holds still; closes the replica when a line comes.
  private static func use(_ path: String, file: String) async throws {
    let replica = try await Replica.open(at: path, models: Account.self)
    _ = try await replica.write { try $0.save(Account(id: 1)) }
    _ = try await replica.export(to: .file(file), includesAll: true)
    _ = try await replica.inspect(.file(file))
    _ = try await replica.members.list()
    step()
    _ = readLine()
    await replica.close()
  }

  /// Replaces the identity, again and again.
  private static func rotateIdentity(_ replica: Replica) async throws {
    while true {
      try await replica.members.rotateIdentity()
      step()
    }
  }

  /// Gives the keyring one master key after another, and a slot that comes and goes.
  private static func rewriteKeyring(_ path: String) async throws {
    let keyring = ReplicaKeyring(at: path)
    while true {
      try await keyring.rotateMasterKey()
      step()
      try await keyring.add(label: "paper", openedBy: [.recoveryCode(ReplicaKeyring.newRecoveryCode())])
      step()
      try await keyring.remove("paper")
      step()
    }
  }

  private static func write(_ replica: Replica) async throws {
    var balance = try await replica.fetch(Account.self, key: 1)?.balance ?? 0
    while true {
      do {
        try await write(balance + 1, to: replica)
        balance += 1
        step()
      } catch let error as GodwitError where error.code == .busy {
        // Somebody rekeys; nothing was written.
      }
    }
  }

  private static func write(_ balance: Int, to replica: Replica) async throws {
    try await replica.write { transaction in
      try transaction.save(Account(id: 1, balance: balance))
      if balance.isMultiple(of: 5) {
        for number in 0..<100 { try transaction.insert(Account(id: 1_000 * balance + number)) }
        try transaction.execute("DELETE FROM account WHERE id >= 1000 AND id < \(1_000 * (balance - 5))")
      }
      try transaction.save(Account(id: 2, balance: balance))
    }
  }
}
