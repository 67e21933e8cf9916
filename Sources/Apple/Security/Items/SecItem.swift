// Fence: hands results out through a pointer, as Apple's functions do.
internal import SecurityStatus

/// Adds an item.
///
/// - Parameters:
///   - attributes: class, attributes, `kSecValueData` or `kSecValueRef`, and what is to be returned.
///   - result: gets what the return keys ask for; untouched where the call fails or nothing is asked for.
/// - Returns: `errSecSuccess`, `errSecDuplicateItem`, `errSecParam`, `errSecNoSuchAttr`, `errSecMissingEntitlement`,
///   `errSecInteractionNotAllowed`, `errSecAuthFailed` for `WhenPasscodeSetThisDeviceOnly` without a passcode, or what is
///   wrong with the keychain. See docs/security-module.md.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    unsafe KeychainClient.shared.add(attributes, result)
}

/// Finds items.
///
/// - Parameters:
///   - query: class, conditions, limit, and what is to be returned.
///   - result: gets one value or, with another limit than one, a list; untouched where the call fails or nothing is
///     asked for.
/// - Returns: `errSecSuccess`, `errSecItemNotFound`, `errSecParam`, `errSecNoSuchAttr`, `errSecMissingEntitlement`,
///   `errSecInteractionNotAllowed`, `errSecUnimplemented`, or what is wrong with the keychain.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    unsafe KeychainClient.shared.copyMatching(query, result)
}

/// Changes all items that a query means, or none of them.
///
/// - Returns: `errSecSuccess`, `errSecItemNotFound`, `errSecDuplicateItem`, `errSecParam`, `errSecNoSuchAttr`,
///   `errSecMissingEntitlement`, `errSecInteractionNotAllowed`, or what is wrong with the keychain.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    KeychainClient.shared.update(query, attributesToUpdate)
}

/// Deletes all items that a query means.
///
/// - Returns: `errSecSuccess`, `errSecItemNotFound`, `errSecParam`, `errSecNoSuchAttr`, `errSecMissingEntitlement`, or
///   what is wrong with the keychain.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    KeychainClient.shared.delete(query)
}

/// The words for a status, as users see them.
///
/// - Returns: always a text; one without words of its own is shown by its number.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    SecurityStatus.message(for: status)
}

extension KeychainClient {
    func add(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
        let place = unsafe result
        return unsafe hand(to: place, attributes, .add) { call, request in try call.add(request) }
    }

    func copyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
        unsafe hand(to: result, query, .copy) { call, request in try call.copy(request) }
    }

    func update(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus {
        do {
            let request = try ItemRequest(query, for: .update)
            return perform { call in try call.update(request, to: attributes) }.status
        } catch {
            return error.status
        }
    }

    func delete(_ query: CFDictionary) -> OSStatus {
        do {
            let request = try ItemRequest(query, for: .delete)
            return perform { call in try call.delete(request) }.status
        } catch {
            return error.status
        }
    }

    private func hand(
        to result: UnsafeMutablePointer<CFTypeRef?>?, _ dictionary: CFDictionary, _ kind: ItemRequest.Call,
        _ body: (ItemCall, ItemRequest) throws -> Any?
    ) -> OSStatus {
        do throws(CallFailure) {
            let request = try ItemRequest(dictionary, for: kind)
            guard unsafe request.returns.isEmpty || result != nil else { return errSecParam }
            let outcome = perform { call in try body(call, request) }
            if outcome.status == errSecSuccess, !request.returns.isEmpty {
                unsafe result?.pointee = (outcome.result ?? nil).map { $0 as AnyObject }
            }
            return outcome.status
        } catch {
            return error.status
        }
    }
}
