// Fence: returns results through a pointer, as Apple's functions do.
public import Foundation
internal import KCSecurityStatus

/// Adds an item.
///
/// ```swift
/// let status = SecItemAdd(
///     [
///         kSecClass: kSecClassGenericPassword, kSecAttrService: "mail.example.org", kSecAttrAccount: "ada",
///         kSecValueData: Data("correct horse".utf8),
///     ] as CFDictionary, nil)
/// if status == errSecDuplicateItem { print("there is a password already") }
/// ```
///
/// - Parameters:
///   - attributes: class, attributes, `kSecValueData` or `kSecValueRef`, and the requested results.
///   - result: set to what the return keys request; unchanged if the call fails or nothing is requested. If nil, the
///     item is added and nothing is returned.
/// - Returns: `errSecSuccess`, `errSecDuplicateItem`, `errSecParam`, `errSecNoSuchClass`, `errSecNoSuchAttr`,
///   `errSecMissingEntitlement`, `errSecInteractionNotAllowed`, `errSecAuthFailed` for `WhenPasscodeSetThisDeviceOnly`
///   without a passcode, or a status for a failure of the keychain. See docs/security-module.md.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    unsafe KeychainClient.shared.add(attributes, result)
}

/// Finds items.
///
/// ```swift
/// var result: CFTypeRef?
/// let status = SecItemCopyMatching(
///     [
///         kSecClass: kSecClassGenericPassword, kSecAttrService: "mail.example.org", kSecAttrAccount: "ada",
///         kSecReturnData: true,
///     ] as CFDictionary, &result)
/// let password = status == errSecSuccess ? result as? Data : nil
/// ```
///
/// - Parameters:
///   - query: class, conditions, limit, and the requested results.
///   - result: set to one value or, if the limit is not one, an array; unchanged if the call fails or nothing is
///     requested. If nil, the status tells whether there is such an item.
/// - Returns: `errSecSuccess`, `errSecItemNotFound`, `errSecParam`, `errSecNoSuchAttr`, `errSecMissingEntitlement`,
///   `errSecInteractionNotAllowed`, `errSecUnimplemented`, or a status for a failure of the keychain.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    unsafe KeychainClient.shared.copyMatching(query, result)
}

/// Changes all items that match a query, or none.
///
/// ```swift
/// let status = SecItemUpdate(
///     [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail.example.org", kSecAttrAccount: "ada"]
///         as CFDictionary,
///     [kSecValueData: Data("battery staple".utf8)] as CFDictionary)
/// ```
///
/// - Returns: `errSecSuccess`, `errSecItemNotFound`, `errSecDuplicateItem`, `errSecParam`, `errSecNoSuchAttr`,
///   `errSecMissingEntitlement`, `errSecInteractionNotAllowed`, or a status for a failure of the keychain.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    KeychainClient.shared.update(query, attributesToUpdate)
}

/// Deletes all items that match a query.
///
/// ```swift
/// let query = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail.example.org"] as CFDictionary
/// let status = SecItemDelete(query)
/// ```
///
/// - Returns: `errSecSuccess`, `errSecItemNotFound`, `errSecParam`, `errSecNoSuchAttr`, `errSecMissingEntitlement`, or
///   a status for a failure of the keychain.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    KeychainClient.shared.delete(query)
}

/// Returns the message for a status, for display.
///
/// ```swift
/// print(SecCopyErrorMessageString(errSecItemNotFound, nil) as String? ?? "")
/// ```
///
/// - Returns: always a string; for a status without a message, its number.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    SecurityStatus.message(for: status) as CFString
}

extension KeychainClient {
    func add(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
        let pointer = unsafe result
        return unsafe hand(to: pointer, attributes, .add) { request in
            change(asking: request.route) { call, writer in try call.add(request, with: writer) }
        }
    }

    func copyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
        unsafe hand(to: result, query, .copy) { request in
            read(asking: request.route) { call in try call.copy(request) }
        }
    }

    func update(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus {
        do {
            let request = try ItemRequest(CallDictionary(query), for: .update)
            let changes = try CallDictionary(attributes)
            return change(asking: request.route) { call, writer in
                try call.update(request, to: changes, with: writer)
            }.status
        } catch {
            return error.status
        }
    }

    func delete(_ query: CFDictionary) -> OSStatus {
        do {
            let request = try ItemRequest(CallDictionary(query), for: .delete)
            let outcome = change(asking: request.route) { call, writer in try call.delete(request, with: writer) }
            return outcome.result == false ? errSecItemNotFound : outcome.status
        } catch {
            return error.status
        }
    }

    private func hand(
        to result: UnsafeMutablePointer<CFTypeRef?>?, _ dictionary: CFDictionary, _ kind: ItemRequest.Call,
        _ call: (ItemRequest) -> (status: OSStatus, result: Any??)
    ) -> OSStatus {
        do throws(CallFailure) {
            var request = try ItemRequest(CallDictionary(dictionary), for: kind)
            // Without a place for the result, the status is the only answer.
            if unsafe result == nil { request.returns = [] }
            let outcome = call(request)
            if outcome.status == errSecSuccess, !request.returns.isEmpty {
                unsafe result?.pointee = (outcome.result ?? nil).map(object)
            }
            return outcome.status
        } catch {
            return error.status
        }
    }
}
