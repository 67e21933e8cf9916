package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKernelKeyring
package import KCKeychainKeys
package import KCKeychainModel

/// Why a keychain file could not be created, opened, read or changed.
///
/// After such an error, nothing has changed except the count of wrong passcodes.
package enum KeychainStoreError: Error, Hashable, Sendable {
    /// There is no keychain at this path.
    case notFound(String)
    /// A file already exists at this path.
    case exists(String)
    /// The file is not a keychain of this program.
    case notAKeychain(Mismatch)
    /// The file at this path has more than one name (hard links), and two names would have two journals.
    case severalNames(String)
    /// The file at this path, next to the keychain, is a journal that this program would not have written.
    case foreignJournal(String)
    /// The file has a newer format version.
    case newerFormat(found: Int, known: Int)
    /// The file breaks a rule of its format; the text names the rule and contains no foreign text.
    case damaged(String)
    /// The keychain belongs to a different device key.
    case otherDevice(DeviceID)
    /// Another process is changing the keychain, or reading it while a change must be written.
    case busy
    /// The class key of this accessibility is not available: the keychain is locked.
    case locked(Accessibility)
    /// The secret of an item with this constraint can be read only by someone who gives the passcode for it.
    case presenceNeeded(AccessConstraint)
    /// The passcode cannot be removed: this many items ask for it.
    case itemsAskForPasscode(Int)
    case wrongPasscode
    /// Too many wrong passcodes; the next attempt is allowed after this many seconds.
    case tooManyAttempts(retryAfter: Int)
    /// WhenPasscodeSetThisDeviceOnly items, and items with a constraint, need a keychain with a passcode.
    case passcodeNotSet
    /// A passcode has at least one byte.
    case passcodeEmpty
    /// An escrow key does not open the keychain, or its escrow record cannot be made or used.
    case escrow(EscrowProblem)
    /// A security token cannot be enrolled, or its record cannot be used.
    case token(TokenProblem)
    /// Another item has the same unique key.
    case duplicateItem
    /// Another item has the same UUID.
    case duplicateUUID(ItemUUID)
    /// No item matches.
    case itemNotFound
    /// The item's row is not a valid item, or its seal is broken.
    case itemDamaged(ItemUUID)
    /// An update may not set this attribute: the store sets it (`cdat`, `mdat`), or it names the owner (`musr`).
    case unchangeable(AttributeCode)
    /// The attributes do not form a valid item.
    case item(ItemProblem)
    /// The file, or a file next to it, is missing, not a regular file, not private, and so on.
    case file(FileFailure)
    /// A limit is exceeded: its name, the value found and the largest value allowed.
    case limit(String, found: Int, allowed: Int)
    /// The disk is full.
    case diskFull
    /// The file or its folder cannot be written.
    case readOnly
    /// SQLite failed with this extended result code (sqlite.org/rescode.html).
    case sqlite(Int32)
    /// libcrypto failed for a reason other than the data.
    case cryptography(CryptographyFailure)
    /// The kernel's key service, which stores unlocked keys, failed other than by denying access.
    case kernelKeys(KeyRetentionFailure)
    /// A signal asked the process to stop.
    case interrupted

    /// Why a file is not a keychain of this program.
    package enum Mismatch: String, Hashable, Sendable {
        /// Not a SQLite database.
        case notADatabase = "it is not a database"
        /// A database of another program.
        case otherApplication = "it is the database of another program"
        /// Tables, indexes, triggers or views are not exactly those of a keychain.
        case otherSchema = "its tables are not those of a keychain"
    }
}
