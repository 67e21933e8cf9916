package import KCCryptography
internal import KCDeviceIdentity
internal import KCReportText

/// Explains why the chip that holds the device key does not let it be used.
package func explainChip(_ failure: ChipFailure) -> Explanation {
    switch failure {
    case .libraryMissing(let name):
        Explanation(
            .locked, "the library that talks to a TPM is missing: \(quoted(name))",
            hint: "install tpm2-tss; on Debian: 'apt-get install libtss2-esys-3.0.2-0 libtss2-tcti-device0'")
    case .absent(let path):
        Explanation(
            .locked, "there is no TPM here: \(quoted(path)) does not exist",
            hint: "see whether the firmware has it switched on, and whether a container or a sandbox hides it",
            "if it held the key of this device, 'kcbackup device import FILE' brings that back, from what 'kcbackup device "
                + "export' wrote, and "
                + "'kcbackup device adopt \(OptionName.newKey.spelling) \(OptionName.heldBy.spelling) file' makes a new one"
        )
    case .noAccess(let path):
        Explanation(
            .locked, "this user may not use the TPM: \(quoted(path))",
            hint: "'sudo usermod -aG tss $USER' and a new login allow it; members of that group may use whatever the "
                + "TPM allows without a password")
    case .noAnswer:
        Explanation(
            .locked, "the TPM does not answer",
            hint: "restart the machine; 'journalctl -k' may say what the kernel knows about its TPM")
    case .otherChip:
        Explanation(
            .refused, "the device key is held by another TPM, or this one was cleared since",
            hint: "'kcbackup device import FILE' brings the key back, from what 'kcbackup device export' wrote",
            "without that, restore an encrypted archive: 'kcbackup device adopt \(OptionName.newKey.spelling)' gives this "
                + "device a new key first, and '\(OptionName.heldBy.spelling) file' puts it into a file")
    case .ownerPassword:
        Explanation(
            .refused, "the TPM has an owner password, and no storage root key that everybody may use",
            hint: "someone with that password makes one, once: 'tpm2_createprimary -C o -G ecc -a "
                + "\"fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|decrypt\" -c srk.ctx', then "
                + "'tpm2_evictcontrol -C o -c srk.ctx 0x81000001'")
    case .disabled:
        Explanation(
            .refused, "the storage hierarchy of the TPM is switched off", hint: "the firmware switches it on")
    case .damaged:
        Explanation(
            .damaged, "what the TPM sealed was altered in the file of the device key",
            hint: "put the file back from a copy of the home folder that was made on this machine since",
            "'kcbackup device import FILE' brings the key back, from what 'kcbackup device export' wrote")
    case .tampered:
        Explanation(
            .refused, "an answer of the TPM was altered on its way; nothing was done with it",
            hint: "something between the processor and the TPM cannot be trusted")
    case .lockedOut(let seconds):
        Explanation(
            .locked,
            "the TPM takes no passcode for a while, after wrong guesses at what it guards"
                + (seconds.map {
                    "; the next try is possible in \(duration(seconds: $0)) at the latest, while it is on"
                }
                    ?? ""),
            hint: "'kcbackup device show' shows how many it has counted, for all programs together",
            "'tpm2_dictionarylockout --clear-lockout' ends that, with its lockout password if it has one")
    case .wrongPassword:
        Explanation(.wrongKey, "the passcode is wrong, and the TPM has counted that", hint: "mind the case of letters")
    case .countsTooFew(let limit):
        Explanation(
            .refused,
            "this TPM is unfit to count passcodes: it locks all that it guards after "
                + "\(counted(limit, "wrong guess", plural: "wrong guesses")), or forgives none",
            hint: "'tpm2_dictionarylockout --setup-parameters --max-tries=32 --recovery-time=600 "
                + "--lockout-recovery-time=86400' allows \(ChipFacts.leastLimit) or more")
    case .countedElsewhere:
        Explanation(
            .refused, "the TPM that counts this passcode is another one, was cleared since, or is not here",
            hint: "an encrypted archive brings the items back: 'kcbackup restore ARCHIVE "
                + "\(OptionName.keychain.spelling) NAME'",
            "the escrow key, if there is one, still makes such an archive: 'kcbackup create "
                + "\(OptionName.escrow.spelling) FILE'")
    case .refused(let call, let code):
        Explanation(
            .refused, "the TPM refuses what it is asked for: '\(call)' says 0x\(String(code, radix: 16))",
            hint: "'tpm2_rc_decode' says what that means")
    }
}
