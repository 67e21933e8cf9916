import Foundation
import Security

/// How the wrappers that many apps use spell their calls; each idiom says whether it came out right.
enum WrapperIdioms {
    static func all() -> [String: Bool] {
        var idioms: [String: Bool] = [:]
        idioms["subscript with enum keys"] = subscripting()
        idioms["values as objects"] = objects()
        idioms["pointer to the result"] = pointer()
        idioms["options as a type"] = options()
        idioms["status as an error"] = statusAsError()
        idioms["codable value"] = codable()
        idioms["clear"] = clear()
        return idioms
    }

    private static let service = "com.example.idioms"

    /// A struct with a subscript, over a dictionary that a function builds.
    private static func subscripting() -> Bool {
        struct Keychain {
            let service: String

            subscript(key: String) -> String? {
                get { data(key).flatMap { String(data: $0, encoding: .utf8) } }
                nonmutating set { newValue.map { set(Data($0.utf8), key) } ?? remove(key) }
            }

            private func query(_ key: String) -> [String: Any] {
                var query: [String: Any] = [Class: kSecClassGenericPassword]
                query[AttributeService] = service
                query[AttributeAccount] = key
                query[AttributeSynchronizable] = SynchronizableAny
                return query
            }

            private func data(_ key: String) -> Data? {
                var query = query(key)
                query[MatchLimit] = MatchLimitOne
                query[ReturnData] = kCFBooleanTrue
                var result: AnyObject?
                let status = SecItemCopyMatching(query as CFDictionary, &result)
                switch status {
                case errSecSuccess: return result as? Data
                default: return nil
                }
            }

            private func set(_ data: Data, _ key: String) {
                switch SecItemCopyMatching(query(key) as CFDictionary, nil) {
                case errSecSuccess, errSecInteractionNotAllowed:
                    _ = SecItemUpdate(query(key) as CFDictionary, [ValueData: data] as CFDictionary)
                case errSecItemNotFound:
                    var attributes = query(key)
                    attributes[AttributeSynchronizable] = kCFBooleanFalse
                    attributes[ValueData] = data
                    _ = SecItemAdd(attributes as CFDictionary, nil)
                default: break
                }
            }

            private func remove(_ key: String) { _ = SecItemDelete(query(key) as CFDictionary) }
        }
        let keychain = Keychain(service: service)
        keychain["token"] = "one"
        keychain["token"] = "two"
        let value = keychain["token"]
        keychain["token"] = nil
        return value == "two" && keychain["token"] == nil
    }

    /// Values as `AnyObject`, and results cast to dictionaries of objects.
    private static func objects() -> Bool {
        func keychainQuery(account: String?, accessGroup: String? = nil) -> [String: AnyObject] {
            var query = [String: AnyObject]()
            query[kSecClass as String] = kSecClassGenericPassword as AnyObject
            query[kSecAttrService as String] = service as AnyObject?
            if let account { query[kSecAttrAccount as String] = account as AnyObject? }
            if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup as AnyObject? }
            return query
        }
        var newItem = keychainQuery(account: "objects")
        newItem[kSecValueData as String] = Data("secret".utf8) as AnyObject?
        guard SecItemAdd(newItem as CFDictionary, nil) == noErr else { return false }
        var query = keychainQuery(account: nil)
        query[kSecMatchLimit as String] = kSecMatchLimitAll as AnyObject
        query[kSecReturnAttributes as String] = kCFBooleanTrue as AnyObject
        query[kSecReturnData as String] = kCFBooleanFalse as AnyObject
        var queryResult: AnyObject?
        guard SecItemCopyMatching(query as CFDictionary, &queryResult) == noErr,
            let results = queryResult as? [[String: AnyObject]],
            let account = results.first?[kSecAttrAccount as String] as? String
        else { return false }
        query[kSecMatchLimit as String] = kSecMatchLimitOne as AnyObject
        query[kSecReturnData as String] = kCFBooleanTrue as AnyObject
        guard SecItemCopyMatching(query as CFDictionary, &queryResult) == noErr,
            let existing = queryResult as? [String: AnyObject],
            let data = existing[kSecValueData as String] as? Data
        else { return false }
        return account == "objects" && data == Data("secret".utf8)
    }

    /// The result through a pointer, and with it a casted constant.
    private static func pointer() -> Bool {
        let query: [String: Any] = [
            String(kSecClass): kSecClassGenericPassword,
            String(kSecAttrService): service,
            String(kSecReturnData): kCFBooleanTrue as Any,
            String(kSecMatchLimit): kSecMatchLimitOne,
        ]
        var result: AnyObject?
        let status = withUnsafeMutablePointer(to: &result) {
            SecItemCopyMatching(query as CFDictionary, UnsafeMutablePointer($0))
        }
        return status == errSecSuccess && (result as? NSData)?.length == 6 && (result as! CFData as Data).count == 6
    }

    /// Accessibility as an enum whose raw values are the constants.
    private static func options() -> Bool {
        enum Accessible: RawRepresentable, CaseIterable {
            case whenUnlocked, afterFirstUnlock, whenUnlockedThisDeviceOnly

            init?(rawValue: CFString) {
                guard let match = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
                self = match
            }

            var rawValue: CFString {
                switch self {
                case .whenUnlocked: return kSecAttrAccessibleWhenUnlocked
                case .afterFirstUnlock: return kSecAttrAccessibleAfterFirstUnlock
                case .whenUnlockedThisDeviceOnly: return kSecAttrAccessibleWhenUnlockedThisDeviceOnly
                }
            }
        }
        let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: service]
        let changes: [CFString: Any] = [kSecAttrAccessible: Accessible.whenUnlockedThisDeviceOnly.rawValue]
        guard SecItemUpdate(query as CFDictionary, changes as CFDictionary) == errSecSuccess else { return false }
        var result: CFTypeRef?
        let returned = query.merging([kSecReturnAttributes: kCFBooleanTrue!]) { $1 }
        guard SecItemCopyMatching(returned as CFDictionary, &result) == errSecSuccess else { return false }
        let attributes = result as! [CFString: Any]
        let code = attributes[kSecAttrAccessible] as! CFString
        return Accessible(rawValue: code) == .whenUnlockedThisDeviceOnly
            && attributes[kSecAttrAccessControl] != nil
    }

    /// The status of a failure in an error of Foundation.
    private static func statusAsError() -> Bool {
        let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "nobody"]
        let status = SecItemDelete(query as CFDictionary)
        let message = SecCopyErrorMessageString(status, nil) as String? ?? "Unknown error"
        let error = NSError(
            domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: message])
        return error.code == Int(errSecItemNotFound) && !error.localizedDescription.isEmpty
    }

    /// A value in JSON as the secret, kept by upsert.
    private static func codable() -> Bool {
        struct Credentials: Codable, Equatable {
            var user: String
            var token: UUID
        }
        let key = "credentials"
        let credentials = Credentials(user: "ada", token: UUID())
        guard let data = try? JSONEncoder().encode(credentials) else { return false }
        let query =
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: key,
                kSecAttrGeneric: Data(key.utf8),
            ] as [CFString: Any]
        SecItemDelete(query as CFDictionary)
        guard SecItemAdd(query.merging([kSecValueData: data]) { $1 } as CFDictionary, nil) == errSecSuccess else {
            return false
        }
        var item: CFTypeRef?
        SecItemCopyMatching(query.merging([kSecReturnData: true]) { $1 } as CFDictionary, &item)
        guard let found = item as? Data else { return false }
        return (try? JSONDecoder().decode(Credentials.self, from: found)) == credentials
    }

    /// All classes emptied in a loop, as a test or a first start does it.
    private static func clear() -> Bool {
        for item in [kSecClassCertificate, kSecClassIdentity] {
            let status = SecItemDelete([kSecClass: item] as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { return false }
        }
        return SecItemDelete([kSecClass: kSecClassGenericPassword, kSecAttrService: service] as CFDictionary) == noErr
    }
}

private let Class = String(kSecClass)
private let AttributeService = String(kSecAttrService)
private let AttributeAccount = String(kSecAttrAccount)
private let AttributeSynchronizable = String(kSecAttrSynchronizable)
private let SynchronizableAny = String(kSecAttrSynchronizableAny)
private let MatchLimit = String(kSecMatchLimit)
private let MatchLimitOne = String(kSecMatchLimitOne)
private let ReturnData = String(kSecReturnData)
private let ValueData = String(kSecValueData)
