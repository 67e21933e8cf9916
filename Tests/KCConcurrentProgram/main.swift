import Foundation
import KeychainSecurity

// A program for tests, of which several processes modify the same keychain concurrently.
//
//   NUMBER OWN COMMON               adds OWN items that only it adds, and COMMON items that all processes add. Prints the
//                                   count of each status, first for the common items, then for its own.
//   threads NUMBER THREADS COUNT    adds COUNT items in each thread, and prints a line for each call that has returned:
//                                   the account and the status. Reads each item that was added; `lost` instead of the
//                                   status if it does not find it.

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
guard arguments.count == 3 else { exit(64) }
let number = arguments[0]

@Sendable func query(_ account: String) -> [CFString: Any] {
    [kSecClass: kSecClassGenericPassword, kSecAttrService: "race", kSecAttrAccount: account]
}

@Sendable func add(_ account: String) -> OSStatus {
    SecItemAdd(query(account).merging([kSecValueData: Data("process \(number)".utf8)]) { $1 } as CFDictionary, nil)
}

func count(_ accounts: [String]) -> String {
    var statuses: [OSStatus: Int] = [:]
    for account in accounts { statuses[add(account), default: 0] += 1 }
    return statuses.sorted { $0.key > $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
}

@Sendable func addAndRead(_ account: String) -> String {
    let status = add(account)
    guard status == errSecSuccess else { return "\(status)" }
    var result: AnyObject?
    let found = SecItemCopyMatching(query(account).merging([kSecReturnData: true]) { $1 } as CFDictionary, &result)
    return found == errSecSuccess && result as? Data == Data("process \(number)".utf8) ? "0" : "lost"
}

if CommandLine.arguments[1] == "threads" {
    let done = DispatchGroup()
    for thread in 0..<arguments[1] {
        done.enter()
        Thread {
            for item in 0..<arguments[2] {
                let account = "\(number)-\(thread)-\(item)"
                // A single system call, so that a line is whole or missing.
                FileHandle.standardOutput.write(Data("\(account) \(addAndRead(account))\n".utf8))
            }
            done.leave()
        }.start()
    }
    done.wait()
    exit(0)
}

let (own, common) = (arguments[1], arguments[2])
// Opposite directions, so that no process always comes first.
let order = number.isMultiple(of: 2) ? Array(0..<common) : (0..<common).reversed()
print(count(order.map { "common \($0)" }))
print(count((0..<own).map { "own \(number) \($0)" }))
