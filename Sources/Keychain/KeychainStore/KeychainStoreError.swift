package import ByteStreams
package import Cryptography
package import DeviceIdentity
package import KernelKeyring
package import KeychainModel

/// Why a keychain file could not be made, opened, read or changed.
///
/// Whatever throws one of these has changed nothing, but for the counting of wrong passcodes.
package enum KeychainStoreError: Error, Hashable, Sendable {
    /// There is no keychain at this path.
    case notFound(String)
    /// Something stands at this path already.
    case exists(String)
    /// The file is something else than a keychain of ours.
    case notAKeychain(Mismatch)
    /// The file at this path has more than one name (hard links): two names would have two journals.
    case severalNames(String)
    /// The file at this path, beside the keychain, is a journal that this program would not have written.
    case foreignJournal(String)
    /// The file has a format version of the future.
    case newerFormat(found: Int, known: Int)
    /// The file breaks a rule of its format; the text names the rule and holds no foreign text.
    case damaged(String)
    /// The keychain belongs to another device key than the one given.
    case otherDevice(DeviceID)
    /// Another process is changing the keychain, or reading it while a change has to be written.
    case busy
    /// The class key of this accessibility is not at hand: the keychain is locked.
    case locked(Accessibility)
    case wrongPasscode
    /// Too many wrong passcodes; the next try is heard after this many seconds.
    case tooManyAttempts(retryAfter: Int)
    /// WhenPasscodeSetThisDeviceOnly items need a keychain with a passcode.
    case passcodeNotSet
    /// A passcode is a text of at least one byte.
    case passcodeEmpty
    /// Another item has the same unique key.
    case duplicateItem
    /// Another item has the same UUID.
    case duplicateUUID(ItemUUID)
    /// No item matches.
    case itemNotFound
    /// The item's row makes no valid item, or its seal is broken.
    case itemDamaged(ItemUUID)
    /// An update may not set this attribute: the store keeps it (`cdat`, `mdat`), or it names the owner (`musr`).
    case unchangeable(AttributeCode)
    /// The attributes do not make an item.
    case item(ItemProblem)
    /// The file or one beside it is missing, not a regular file, not ours alone, …
    case file(FileFailure)
    /// Something is larger than allowed: the limit's name, what was found, what is allowed.
    case limit(String, found: Int, allowed: Int)
    /// No room is left on the disk.
    case diskFull
    /// The file or its folder cannot be written.
    case readOnly
    /// SQLite refused, with this extended result code (sqlite.org/rescode.html).
    case sqlite(Int32)
    /// libcrypto refused for a reason that is not in the data.
    case cryptography(CryptographyFailure)
    /// The kernel's key service, which keeps what is unlocked, failed for another reason than that it refuses.
    case kernelKeys(KeyRetentionFailure)
    /// A signal asked the process to stop.
    case interrupted

    /// What makes a file no keychain of ours.
    package enum Mismatch: String, Hashable, Sendable {
        /// Not SQLite at all.
        case notADatabase = "it is not a database"
        /// A database of another program.
        case otherApplication = "it is the database of another program"
        /// Tables, indexes, triggers or views are not exactly those of a keychain.
        case otherSchema = "its tables are not those of a keychain"
    }
}
