import Foundation
import KeychainSecurity

// One of several processes that modify the same keychain concurrently. The tests run it.
//
// Arguments: the number of the process, how many items only it adds, and how many items all processes add. Prints the
// count of each status, first for the common items, then for its own.

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
guard arguments.count == 3 else { exit(64) }
let (number, own, common) = (arguments[0], arguments[1], arguments[2])

func add(_ account: String) -> OSStatus {
    SecItemAdd(
        [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "race", kSecAttrAccount: account,
            kSecValueData: Data("process \(number)".utf8),
        ] as CFDictionary, nil)
}

func count(_ accounts: [String]) -> String {
    var statuses: [OSStatus: Int] = [:]
    for account in accounts { statuses[add(account), default: 0] += 1 }
    return statuses.sorted { $0.key > $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
}

// Opposite directions, so that no process always comes first.
let order = number.isMultiple(of: 2) ? Array(0..<common) : (0..<common).reversed()
print(count(order.map { "common \($0)" }))
print(count((0..<own).map { "own \(number) \($0)" }))
