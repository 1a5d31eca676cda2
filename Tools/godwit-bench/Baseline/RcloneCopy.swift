import Foundation
import TestServers

/// `rclone copyto` of the same file to and from the same server: printed beside the rows and not gated.
enum RcloneCopy {
  private static let tries = 3

  /// A line about it; nil where there is no rclone.
  static func line(_ context: BenchContext) -> String? {
    guard let program = RcloneStore.program else { return nil }
    do {
      let scene = try StoreScene(context, "rclone-copy")
      let keys = RcloneStore.environment
      let settings = [
        "provider=Rclone", "endpoint=\"\(scene.endpoint)\"", "access_key_id=\(keys["AWS_ACCESS_KEY_ID"] ?? "")",
        "secret_access_key=\(keys["AWS_SECRET_ACCESS_KEY"] ?? "")", "no_check_bucket=true",
      ]
      let there = ":s3,\(settings.joined(separator: ",")):bucket/m/by-rclone"
      let words = [program, "copyto", "--config", "/dev/null", "--ignore-times", "--retries", "1", "--quiet"]
      let put = try microseconds(words + [scene.file, there]) / Double(scene.megabytes)
      let got = try microseconds(words + [there, "\(scene.folder)/fetched-by-rclone"]) / Double(scene.megabytes)
      return String(
        format: "rclone copyto: put %.0f us a MB, get %.0f (%d MB, its start included, not gated)", put, got,
        scene.megabytes)
    } catch {
      return "rclone copyto: skipped, for it does not run here"
    }
  }

  /// The median of some tries.
  private static func microseconds(_ words: [String]) throws -> Double {
    let times = try (0..<tries).map { _ in
      try ContinuousClock().measure { try PipedProgram.run(words) } / .microseconds(1)
    }
    return times.sorted()[tries / 2]
  }
}
