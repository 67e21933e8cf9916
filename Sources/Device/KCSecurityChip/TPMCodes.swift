internal import KCCryptography

/// A response code of a TPM or of tpm2-tss (TSS 2.0 Overview, TSS2_RC; TPM 2.0 Library, part 2, TPM_RC).
struct TPMCode {
    /// The code.
    let value: UInt32

    /// The layer that the code is of.
    private var layer: UInt32 { value & 0xff_0000 }

    /// True if the TPM itself answered; a resource manager repeats its codes under numbers of its own.
    private var isOfTPM: Bool { [0, 0x0b_0000, 0x0c_0000].contains(layer) }

    /// The error of a TPM's code without the number of the handle, session or parameter that it is about; nil for a code
    /// without such a number.
    private var formatOne: UInt32? { isOfTPM && value & 0x80 != 0 ? value & 0xbf : nil }

    /// True if the code is about a parameter.
    private var isOfParameter: Bool { formatOne != nil && value & 0x40 != 0 }

    /// True if there is nothing under the handle.
    var isMissingHandle: Bool { formatOne == 0x8b }

    /// The operand of a call, which may be the reason for its failure.
    enum Operand {
        /// Nothing from outside this program.
        case own
        /// Data that a TPM has sealed, from a file.
        case sealed
        /// The password of what a TPM has sealed.
        case password
    }

    /// Why `call` failed.
    func failure(of call: String, given operand: Operand = .own) -> ChipFailure {
        switch (layer, formatOne, value & 0xffff) {
        // TSS2_ESYS_RC_RSP_AUTH_FAILED; TSS2_BASE_RC_MALFORMED_RESPONSE, where lengths no longer fit.
        case (0x07_0000, _, 0x1b), (0x07_0000...0x08_0000, _, 0x11): .tampered
        // The layer that passes on bytes.
        case (0x0a_0000, _, _): .noAnswer
        // Bytes that are no structure of a TPM.
        case (0x09_0000, _, _) where operand != .own: .damaged
        // TPM_RC_AUTH_FAIL, which the TPM has counted; TPM_RC_BAD_AUTH would say that it counts nothing.
        case (_, 0x8e?, _) where operand == .password: .wrongPassword
        // Both for what has no password here: the owner's has one.
        case (_, 0xa2?, _), (_, 0x8e?, _): .ownerPassword
        // TPM_RC_HIERARCHY
        case (_, 0x85?, _): .disabled
        // Whatever a TPM finds wrong about them.
        case _ where operand != .own && isOfParameter: .damaged
        // TPM_RC_FAILURE, TPM_RC_INITIALIZE
        case (_, nil, 0x101) where isOfTPM, (_, nil, 0x100) where isOfTPM: .noAnswer
        // TPM_RC_LOCKOUT
        case (_, nil, 0x921) where isOfTPM: .lockedOut(seconds: nil)
        default: .refused(call: call, code: value)
        }
    }
}
