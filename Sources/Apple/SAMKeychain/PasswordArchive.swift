// Fence: Foundation returns the format of a property list through a pointer.
internal import Foundation

/// Keyed archives with secure coding in both directions: only classes that adopt `NSSecureCoding` are accepted.
///
/// Foundation terminates the process on other classes, so both functions check for them first.
enum PasswordArchive {
    /// Archives an object; nil if part of it does not adopt `NSSecureCoding`.
    static func data(of object: any NSCoding) -> Data? {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        let inspector = Inspector()
        archiver.delegate = inspector
        archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        return inspector.foundUnfit || archiver.error != nil ? nil : archiver.encodedData
    }

    /// Reads the object in an archive; nil if the bytes are not an archive, or if a class in it does not exist here or
    /// does not adopt `NSSecureCoding`.
    static func object(in data: Data) -> (any NSCoding)? {
        guard namesFitClasses(data), let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
        unarchiver.requiresSecureCoding = true
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let object = unarchiver.decodeObject(of: [NSObject.self], forKey: NSKeyedArchiveRootObjectKey)
        unarchiver.finishDecoding()
        // An object with an unreadable part is not the object that was saved.
        return unarchiver.error == nil ? object as? any NSCoding : nil
    }

    /// True if the bytes are a property list whose classes can all be instantiated.
    private static func namesFitClasses(_ data: Data) -> Bool {
        guard let list = unsafe try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
            let objects = list["$objects"] as? [Any]
        else { return false }
        return objects.allSatisfy { object in
            guard let description = object as? [AnyHashable: Any], let name = description["$classname"] else {
                return true
            }
            return (name as? String).flatMap(NSClassFromString) is any NSSecureCoding.Type
        }
    }

    /// Replaces objects that cannot be archived, and records that there were some.
    private final class Inspector: NSObject, NSKeyedArchiverDelegate {
        private(set) var foundUnfit = false

        func archiver(_ archiver: NSKeyedArchiver, willEncode object: Any) -> Any? {
            if object is any NSSecureCoding { return object }
            foundUnfit = true
            return NSNull()
        }

        func archiver(_ archiver: NSKeyedArchiver, didEncode object: Any?) {}
        func archiver(_ archiver: NSKeyedArchiver, willReplace object: Any?, withObject newObject: Any?) {}
        func archiverWillFinish(_ archiver: NSKeyedArchiver) {}
        func archiverDidFinish(_ archiver: NSKeyedArchiver) {}
    }
}
