package import KCDeviceIdentity
package import KCQRCodes
internal import KCRecoveryKits

/// Why a recovery kit cannot be made, typed or found.
package enum KitProblem: Error, Hashable, Sendable {
    /// There is no terminal to type a kit on.
    case unattended
    /// Lines were typed wrong this many times.
    case mistyped(times: Int)
    /// The comment is too long, or is not one line.
    case comment
    /// There are as many kits as are kept.
    case tooMany(limit: Int)
    /// The key is that of no kit of this device.
    case otherKey(kits: Int)
    /// No kit has the fingerprint that was given.
    case unknown
    case alreadyRetired(fingerprint: String)
    /// The public key of a kit, which opens whole archives, is given as one that opens the metadata alone.
    case inspecting(fingerprint: String)
    /// The kit, whose strength is given, is in use, and other keys have the other strength.
    case otherStrength(fingerprint: String, isPostQuantum: Bool)
    /// Keys of these jobs cannot stand beside a kit of the strength that is given; those of other jobs need one like it.
    case otherStrengthOfJobs([String], isPostQuantum: Bool, othersFit: Bool)
    /// A file has several keys, so that it is not clear which of them would open an archive.
    case severalKeys
    /// A file with the sheet of a kit is given as one with its key.
    case sheetAsIdentity(path: String)
    /// The key opens the names of the items alone.
    case opensMetadataAlone(archive: String)
    /// An archive that needs no key proves nothing about one.
    case unencrypted(archive: String)
    /// The sheet cannot have a code.
    case code(QRCodeFailure)
    /// The list of kits cannot be read or written.
    case list(StateFileFailure)
}
