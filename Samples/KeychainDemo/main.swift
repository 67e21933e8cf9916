import Foundation
import Security

func show(_ step: String, _ status: OSStatus) {
    print("\(step): \(status) \(SecCopyErrorMessageString(status, nil)! as String)")
}

// A password, by a helper as most apps have one.

do {
    try KeychainHelper.save("first", for: "ada")
    try KeychainHelper.save("second", for: "ada")
    try KeychainHelper.save("third", for: "bob")
    print("ada:", try KeychainHelper.password(for: "ada"))
    print("accounts:", KeychainHelper.accounts().joined(separator: ", "))
    print("bob deleted:", KeychainHelper.delete("bob"))
    print("bob:", try KeychainHelper.password(for: "bob"))
} catch {
    print("bob:", error.localizedDescription)
}

// An internet password.

let server = "www.example.com"
let website: [String: Any] = [
    kSecClass as String: kSecClassInternetPassword,
    kSecAttrServer as String: server,
    kSecAttrProtocol as String: kSecAttrProtocolHTTPS,
    kSecAttrPort as String: 443,
    kSecAttrPath as String: "/login",
    kSecAttrAccount as String: "ada@example.com",
]
var account = website
account[kSecValueData as String] = "open sesame".data(using: .utf8)
account[kSecAttrLabel as String] = "Example"
show("add website", SecItemAdd(account as CFDictionary, nil))
show("add website again", SecItemAdd(account as CFDictionary, nil))

var search: [String: Any] = [
    kSecClass as String: kSecClassInternetPassword,
    kSecAttrServer as String: server,
    kSecMatchLimit as String: kSecMatchLimitOne,
    kSecReturnAttributes as String: true,
    kSecReturnData as String: true,
]
var found: CFTypeRef?
show("find website", SecItemCopyMatching(search as CFDictionary, &found))
if let existing = found as? [String: Any], let user = existing[kSecAttrAccount as String] as? String,
    let password = existing[kSecValueData as String] as? Data, let port = existing[kSecAttrPort as String] as? Int,
    let created = existing[kSecAttrCreationDate as String] as? Date
{
    let isHTTPS = existing[kSecAttrProtocol as String] as? String == kSecAttrProtocolHTTPS as String
    print("  \(user), \(password.count) bytes, port \(port), HTTPS: \(isHTTPS), dated: \(created <= Date())")
}
show("rename", SecItemUpdate(website as CFDictionary, [kSecAttrAccount as String: "ada"] as CFDictionary))
show("rename again", SecItemUpdate(website as CFDictionary, [kSecAttrAccount as String: "ada"] as CFDictionary))

// A random key for a local database, readable only while the device is unlocked, and never on another device.

var bytes = [UInt8](repeating: 0, count: 32)
show("random bytes", SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes))
var error: Unmanaged<CFError>?
guard
    let access = SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [], &error)
else {
    fatalError(error!.takeRetainedValue().localizedDescription)
}
var reference: AnyObject?
show(
    "add key",
    SecItemAdd(
        [
            kSecClass: kSecClassKey,
            kSecAttrKeyClass: kSecAttrKeyClassSymmetric,
            kSecAttrApplicationTag: "com.example.database".data(using: .utf8)!,
            kSecAttrKeySizeInBits: bytes.count * 8,
            kSecAttrAccessControl: access,
            kSecAttrLabel: "database",
            kSecValueData: Data(bytes),
            kSecReturnPersistentRef: true,
        ] as [CFString: Any] as CFDictionary, &reference))

// Its persistent reference could be stored elsewhere, and finds it again.

if let persistentReference = reference as? Data {
    let query: [String: Any] = [
        kSecValuePersistentRef as String: persistentReference, kSecReturnData as String: kCFBooleanTrue as Any,
    ]
    var key: CFTypeRef?
    show("find key by reference", SecItemCopyMatching(query as CFDictionary, &key))
    print("  the same key:", (key as? Data) == Data(bytes))
}

// What other apps of the same team may read as well, on this device and on all others.

let shared: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword,
    kSecAttrAccessGroup as String: "A1B2C3D4E5.com.example.shared",
    kSecAttrService as String: "single sign-on",
    kSecAttrSynchronizable as String: kCFBooleanTrue!,
    kSecValueData as String: Data("token".utf8),
]
show("add shared", SecItemAdd(shared as CFDictionary, nil))
let unsynchronized: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "single sign-on",
]
show("find shared", SecItemCopyMatching(unsynchronized as CFDictionary, nil))
let anywhere = unsynchronized.merging([kSecAttrSynchronizable as String: kSecAttrSynchronizableAny]) { $1 }
show("find shared anywhere", SecItemCopyMatching(anywhere as CFDictionary, nil))
let foreign = shared.merging([kSecAttrAccessGroup as String: "Z9Y8X7W6V5.com.example.other"]) { $1 }
show("add to a foreign group", SecItemAdd(foreign as CFDictionary, nil))

// Everything of one class goes at once.

show("delete all websites", SecItemDelete([kSecClass as String: kSecClassInternetPassword] as CFDictionary))
show("delete all websites again", SecItemDelete([kSecClass as String: kSecClassInternetPassword] as CFDictionary))

// And what other wrappers are fond of.

for (idiom, works) in WrapperIdioms.all().sorted(by: { $0.key < $1.key }) {
    print("\(idiom): \(works ? "as expected" : "WRONG")")
}
