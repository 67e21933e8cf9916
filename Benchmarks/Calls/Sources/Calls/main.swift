import Foundation
import Security

// Times the four calls, one after the other, on the default keychain, which must be unlocked and be there for this alone.
//
//   Calls COUNT    adds COUNT items, then finds, changes and deletes 1,000 of them

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000
let calls = min(count, 1_000)

func query(_ number: Int) -> [String: Any] {
    [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "service \(number)",
        kSecAttrAccount as String: "ada",
    ]
}

/// Runs a call for each number, and prints microseconds a call.
func time(_ name: String, _ numbers: some Collection<Int>, _ call: (Int) -> OSStatus) {
    let clock = ContinuousClock()
    let start = clock.now
    for number in numbers {
        let status = call(number)
        guard status == errSecSuccess else {
            print("\(name) \(number): \(SecCopyErrorMessageString(status, nil) ?? "")")
            exit(1)
        }
    }
    let microseconds = (clock.now - start) / .microseconds(1)
    let figure = Int(microseconds / Double(numbers.count))
    print("\(name)\t\(numbers.count) calls\t\(figure) µs each")
}

time("SecItemAdd", 0..<count) { number in
    SecItemAdd(query(number).merging([kSecValueData as String: Data("secret \(number)".utf8)]) { $1 } as CFDictionary, nil)
}
let sample = stride(from: 0, to: count, by: max(1, count / calls)).prefix(calls)
time("SecItemCopyMatching", Array(sample)) { number in
    var result: AnyObject?
    let status = SecItemCopyMatching(
        query(number).merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &result)
    return result as? Data == Data("secret \(number)".utf8) ? status : errSecDecode
}
time("SecItemUpdate", Array(sample)) { number in
    SecItemUpdate(query(number) as CFDictionary, [kSecValueData as String: Data("new".utf8)] as CFDictionary)
}
time("SecItemDelete", Array(sample)) { number in SecItemDelete(query(number) as CFDictionary) }
