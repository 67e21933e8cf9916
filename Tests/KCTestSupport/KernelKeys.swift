import Foundation
import KCKernelKeyring

/// The keys that programs leave in the kernel for keychains of tests.
///
/// They are in keyrings of the user, who may have 200 keys, and would stay there for three days.
package enum KernelKeys {
    private static let prefix = "kcbackup:"

    /// The names of the program's keys that this process can see.
    package static func names() -> Set<String> {
        guard let list = try? String(contentsOfFile: "/proc/keys", encoding: .utf8) else { return [] }
        let names = list.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            // Revoked and dead keys are removed by and by.
            guard words.count > 8, !words[1].contains("R"), !words[1].contains("D"), words[8].hasPrefix(prefix)
            else { return nil }
            return String(words[8].hasSuffix(":") ? words[8].dropLast() : words[8])
        }
        return Set(names)
    }

    /// False where the kernel lists no keys, as in containers.
    package static var isListed: Bool { (try? String(contentsOfFile: "/proc/keys", encoding: .utf8))?.isEmpty == false }

    /// The names of the keys that were there before, which are not of tests of this process.
    private static let before = names()
    /// Looks at what is there, before any test makes a key.
    static func begin() { _ = before }

    /// Removes the keys of each keychain in a folder, also of programs that were killed.
    package static func remove(ofKeychainsBelow folder: String) {
        let added = names().subtracting(before).filter { name in name.split(separator: ":").count == 3 }
        guard !added.isEmpty else { return }
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        let contents = files.filter { $0.contains(".keychain") }.compactMap {
            FileManager.default.contents(atPath: folder + "/" + $0)
        }
        for name in added {
            let digits = Array(name.split(separator: ":")[1])
            let identifier = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(digits[$0...$0 + 1]), radix: 16)
            }
            guard contents.contains(where: { $0.range(of: Data(identifier)) != nil }) else { continue }
            try? KernelKeyring().revoke(name)
        }
    }
}
