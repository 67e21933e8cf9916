import Foundation
import KCByteStreams
import KCCryptography
import KCKeychainModel
import KCKeychainStore
import KCLocalKeychains
import KCTestSupport

@testable import KeychainSecurity

extension TestClient {
    /// The path of the test's keychain.
    var keychainPath: String { user.keychainPath }

    /// Changes the keychain file behind the API, as another program would.
    func alter(_ sql: String, _ parameters: [SQLiteFile.Value] = []) throws {
        try SQLiteFile(keychainPath).run(sql, parameters)
    }

    /// Overwrites the sealed secret of an account's generic password with four bytes.
    func corrupt(account: String) throws {
        try alter("UPDATE genp SET data = x'01020304' WHERE acct = CAST(? AS BLOB)", [.text(account)])
    }

    /// The keychain as opened by another process: locked if it has a passcode.
    func openStore() throws -> Keychain {
        try Keychain.open(at: keychainPath, deviceKey: user.device.key(), lockWait: .seconds(60))
    }

    /// Sets the passcode that the test unlocks with, or removes it.
    func setPasscode(_ isSet: Bool) throws {
        let keychain = try openStore()
        let passcode = SecretBytes(copying: Self.passcode.utf8) as SecretBytes?
        if isSet {
            try keychain.setPasscode(current: nil, new: passcode, cost: ScryptCost(logN: 14), now: Self.start)
        } else {
            try keychain.setPasscode(current: passcode, new: nil, now: Self.start)
        }
    }

    // MARK: Queries

    /// The secret that a query finds, as text, or nil if it finds none.
    func text(_ query: [CFString: Any]) -> String? {
        let (status, result) = find(query.merging([kSecReturnData: true]) { $1 })
        guard status == errSecSuccess, let data = result as? Data else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// The attributes of the item that a query finds, or nil if it finds none.
    func attributes(_ query: [CFString: Any]) -> [CFString: Any]? {
        find(query.merging([kSecReturnAttributes: true]) { $1 }).1 as? [CFString: Any]
    }

    /// The persistent reference of the item that a query finds, or nil if it finds none.
    func reference(_ query: [CFString: Any]) -> Data? {
        find(query.merging([kSecReturnPersistentRef: true]) { $1 }).1 as? Data
    }

    /// The number of items that match a query, synchronizable or not.
    func count(_ query: [CFString: Any]) -> Int {
        let all: [CFString: Any] = [
            kSecMatchLimit: kSecMatchLimitAll, kSecReturnPersistentRef: true,
            kSecAttrSynchronizable: kSecAttrSynchronizableAny,
        ]
        let (status, result) = find(all.merging(query) { $1 })
        return status == errSecSuccess ? (result as? [Any])?.count ?? 0 : 0
    }

    /// Passes the dictionary to all four calls and returns their statuses.
    func statusesOfAllCalls(_ dictionary: [CFString: Any]) -> [OSStatus] {
        [
            add(dictionary), status(dictionary), update(dictionary, [kSecAttrLabel: "changed"]), delete(dictionary),
        ]
    }
}

/// A generic password item with a secret.
func password(_ account: String, _ secret: String = "secret", _ more: [CFString: Any] = [:]) -> [CFString: Any] {
    generic([kSecAttrService: "mail", kSecAttrAccount: account, kSecValueData: Data(secret.utf8)])
        .merging(more) { $1 }
}

/// The query for an item made by `password`.
func query(_ account: String, _ more: [CFString: Any] = [:]) -> [CFString: Any] {
    generic([kSecAttrService: "mail", kSecAttrAccount: account]).merging(more) { $1 }
}
