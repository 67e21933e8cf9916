internal import Foundation
internal import KCByteStreams

/// The dictionary of a call, or of a result, by the text of its keys.
typealias CallDictionary = [String: Any]

extension CallDictionary {
    /// Reads the dictionary of a call.
    ///
    /// - Throws: `CallFailure` (`errSecParam`) if a key is not a string.
    init(_ dictionary: CFDictionary) throws(CallFailure) {
        self.init(minimumCapacity: dictionary.count)
        for (key, value) in dictionary {
            guard let key = key as? String else { throw CallFailure(errSecParam) }
            self[key] = value
        }
    }

    /// The value of a key, by its constant.
    subscript(key: CFString) -> Any? {
        get { self[key as String] }
        set { self[key as String] = newValue }
    }
}

/// Compares the text of a key or value with a constant, for `switch`.
func ~= (constant: CFString, text: String) -> Bool { (constant as String).exact == text.exact }

/// Returns a result as an object, with everything in it as the objects that Apple's calls return.
func object(_ result: Any) -> CFTypeRef {
    switch result {
    case let list as [Any]: NSArray(array: list.map(object))
    case let dictionary as CallDictionary: dictionary as NSDictionary
    case let data as Data: data as NSData
    case let text as String: text as NSString
    default: result as AnyObject
    }
}
