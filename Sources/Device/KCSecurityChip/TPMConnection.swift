internal import CKCTPM2
internal import Glibc
internal import KCByteStreams
internal import KCCryptography

/// A connection to a TPM, with the storage root key that secrets are sealed under and a session that authenticates and
/// encrypts all calls that use it.
///
/// A connection removes at its end all that it has made in the TPM: a TPM has room for three keys.
@safe final class TPMConnection {
    private var transport: OpaquePointer?
    private var context: OpaquePointer?
    private var transient: [UInt32] = []
    private var persistent: [UInt32] = []
    private let call = unsafe TPMLibrary.functions

    /// Connects to what a configuration of tpm2-tss names.
    ///
    /// - Parameter transport: never empty: otherwise the library would look for anything that answers, on the network
    ///   interface of this machine too.
    init(_ transport: String) throws(ChipFailure) {
        precondition(!transport.isEmpty, "a TPM is named")
        try TPMLibrary.load()
        let opened = unsafe call.pointee.Tss2_TctiLdr_Initialize(transport, &self.transport)
        guard opened == 0 else {
            throw opened & 0xffff == 0x15 ? .libraryMissing("libtss2-tcti") : .noAnswer
        }
        try check(unsafe call.pointee.Esys_Initialize(&context, self.transport, nil), "Esys_Initialize")
    }

    deinit {
        if unsafe context != nil {
            for handle in transient.reversed() { _ = unsafe call.pointee.Esys_FlushContext(context, handle) }
            for handle in persistent {
                var handle = handle
                _ = unsafe call.pointee.Esys_TR_Close(context, &handle)
            }
            unsafe call.pointee.Esys_Finalize(&context)
        }
        if unsafe transport != nil { unsafe call.pointee.Tss2_TctiLdr_Finalize(&transport) }
    }

    private func check(
        _ code: UInt32, _ name: String, given operand: TPMCode.Operand = .own
    ) throws(ChipFailure) {
        if code != 0 { throw TPMCode(value: code).failure(of: name, given: operand) }
    }
}

// Keys and sessions.
extension TPMConnection {
    /// A key to seal under.
    struct Parent {
        let handle: UInt32
        /// The hash of its public part, which a TPM calls its name.
        let hash: [UInt8]
    }

    /// The storage root key that somebody has made persistent; nil if there is none.
    func persistentParent() throws(ChipFailure) -> Parent? {
        var handle = ctpm2_none
        let none = ctpm2_none
        let code = unsafe call.pointee.Esys_TR_FromTPMPublic(
            context, TPMFormat.persistentParent, none, none, none, &handle)
        if TPMCode(value: code).isMissingHandle { return nil }
        try check(code, "Esys_TR_FromTPMPublic")
        persistent.append(handle)
        return Parent(handle: handle, hash: try name(handle))
    }

    /// The storage root key, made anew: it is always the same until the TPM is cleared.
    func transientParent() throws(ChipFailure) -> Parent {
        let sensitive = unsafe try room(
            TPMFormat.nothingSensitive, unsafe call.pointee.Tss2_MU_TPM2B_SENSITIVE_CREATE_Unmarshal)
        let template = unsafe try room(TPMFormat.parentTemplate, unsafe call.pointee.Tss2_MU_TPM2B_PUBLIC_Unmarshal)
        let outside = TPMRoom()
        let registers = TPMRoom()
        var handle = ctpm2_none
        let none = ctpm2_none
        try check(
            unsafe call.pointee.Esys_CreatePrimary(
                context, ctpm2_owner, ctpm2_password, none, none, sensitive.pointer, template.pointer,
                outside.pointer, registers.pointer, &handle, nil, nil, nil, nil), "Esys_CreatePrimary")
        transient.append(handle)
        return Parent(handle: handle, hash: try name(handle))
    }

    private func name(_ handle: UInt32) throws(ChipFailure) -> [UInt8] {
        var name: OpaquePointer?
        try check(unsafe call.pointee.Esys_TR_GetName(context, handle, &name), "Esys_TR_GetName")
        defer { unsafe free(name) }
        let bytes = unsafe try bytes(unsafe name, unsafe call.pointee.Tss2_MU_TPM2B_NAME_Marshal)
        return Array(bytes.dropFirst(2))
    }

    /// Starts a session whose key only the owner of `parent` can know, so that nobody on the way reads or changes what
    /// is said in it.
    func session(with parent: Parent) throws(ChipFailure) -> UInt32 {
        let cipher = unsafe try room(TPMFormat.sessionCipher, unsafe call.pointee.Tss2_MU_TPMT_SYM_DEF_Unmarshal)
        let none = ctpm2_none
        var session = none
        try check(
            unsafe call.pointee.Esys_StartAuthSession(
                context, parent.handle, none, none, none, none, nil, ctpm2_hmac_session, cipher.pointer, ctpm2_sha256,
                &session), "Esys_StartAuthSession")
        transient.append(session)
        try check(
            unsafe call.pointee.Esys_TRSess_SetAttributes(
                context, session, ctpm2_continue_session | ctpm2_decrypt | ctpm2_encrypt, 0xff),
            "Esys_TRSess_SetAttributes")
        return session
    }
}

// Secrets.
extension TPMConnection {
    /// Seals a secret under `parent`, behind a password unless that is empty.
    func create(
        _ secret: borrowing SecretBytes, _ password: borrowing SecretBytes, as template: [UInt8], under parent: Parent,
        in session: UInt32
    ) throws(ChipFailure) -> (publicPart: [UInt8], privatePart: [UInt8]) {
        let sensitive = TPMRoom()
        let bytes = TPMFormat.sensitive(secret, password)
        try bytes.withBytes { span throws(ChipFailure) in
            unsafe try fill(sensitive, span, unsafe call.pointee.Tss2_MU_TPM2B_SENSITIVE_CREATE_Unmarshal)
        }
        let template = unsafe try room(template, unsafe call.pointee.Tss2_MU_TPM2B_PUBLIC_Unmarshal)
        let outside = TPMRoom()
        let registers = TPMRoom()
        var privatePart: OpaquePointer?
        var publicPart: OpaquePointer?
        defer {
            unsafe free(privatePart)
            unsafe free(publicPart)
        }
        let none = ctpm2_none
        try check(
            unsafe call.pointee.Esys_Create(
                context, parent.handle, session, none, none, sensitive.pointer, template.pointer, outside.pointer,
                registers.pointer, &privatePart, &publicPart, nil, nil, nil), "Esys_Create")
        return (
            unsafe try self.bytes(unsafe publicPart, unsafe call.pointee.Tss2_MU_TPM2B_PUBLIC_Marshal),
            unsafe try self.bytes(unsafe privatePart, unsafe call.pointee.Tss2_MU_TPM2B_PRIVATE_Marshal)
        )
    }

    /// Opens a sealed secret.
    ///
    /// - Parameter operand: `password` if it is sealed behind one.
    func unseal(
        publicPart: [UInt8], privatePart: [UInt8], with password: borrowing SecretBytes, given operand: TPMCode.Operand,
        under parent: Parent, in session: UInt32
    ) throws(ChipFailure) -> SecretBytes {
        let publicRoom = unsafe try room(publicPart, unsafe call.pointee.Tss2_MU_TPM2B_PUBLIC_Unmarshal)
        let privateRoom = unsafe try room(privatePart, unsafe call.pointee.Tss2_MU_TPM2B_PRIVATE_Unmarshal)
        let none = ctpm2_none
        var handle = none
        try check(
            unsafe call.pointee.Esys_Load(
                context, parent.handle, session, none, none, privateRoom.pointer, publicRoom.pointer, &handle),
            "Esys_Load", given: .sealed)
        transient.append(handle)
        if operand == .password { try set(password, of: handle) }
        var data: OpaquePointer?
        let code = unsafe call.pointee.Esys_Unseal(context, handle, session, none, none, &data)
        defer {
            if let data = unsafe data { unsafe Self.wipe(UnsafeMutableRawPointer(data)) }
            unsafe free(data)
        }
        if operand == .password { try forgetPassword(of: handle, under: parent, in: session) }
        try check(code, "Esys_Unseal", given: operand)
        // A TPM2B_SENSITIVE_DATA: a length of two bytes in the order of this machine, and at most 256 bytes.
        guard let start = unsafe data.map({ unsafe UnsafeMutableRawPointer($0) }) else { throw .noAnswer }
        let count = Int(unsafe start.load(as: UInt16.self))
        guard count <= 256 else { throw .tampered }
        return SecretBytes(
            unsafe UnsafeRawBufferPointer(start: start + 2, count: count).bindMemory(to: UInt8.self).span)
    }

    /// Overwrites a TPM2B_SENSITIVE_DATA, which has room for 256 bytes behind its length.
    private static func wipe(_ data: UnsafeMutableRawPointer) {
        unsafe explicit_bzero(data, 2 + 256)
    }

    /// Overwrites what the library keeps of the password of a key, and does not wipe at the end.
    ///
    /// A password of zeros is the same as none, and so is what a session makes of it. So another use of the session, which
    /// cannot succeed, takes the place of the one before.
    private func forgetPassword(
        of handle: UInt32, under parent: Parent, in session: UInt32
    ) throws(ChipFailure) {
        let zeros = SecretBytes(copying: [UInt8](repeating: 0, count: 32))
        try set(zeros, of: handle)
        try set(zeros, of: parent.handle)
        var data: OpaquePointer?
        _ = unsafe call.pointee.Esys_Unseal(context, parent.handle, session, ctpm2_none, ctpm2_none, &data)
        unsafe free(data)
    }

    /// Tells the library the password of a key; the TPM is not asked.
    private func set(_ password: borrowing SecretBytes, of handle: UInt32) throws(ChipFailure) {
        let room = TPMRoom()
        let bytes = TPMFormat.password(password)
        try bytes.withBytes { span throws(ChipFailure) in
            unsafe try fill(room, span, unsafe call.pointee.Tss2_MU_TPM2B_DIGEST_Unmarshal)
        }
        try check(unsafe call.pointee.Esys_TR_SetAuth(context, handle, room.pointer), "Esys_TR_SetAuth")
    }

    /// Returns an answer about the TPM's commands or properties, in its wire format; nobody vouches for it.
    @discardableResult
    func capability(_ kind: UInt32, from first: UInt32, count: UInt32) throws(ChipFailure) -> [UInt8] {
        let none = ctpm2_none
        var more: UInt8 = 0
        var data: OpaquePointer?
        try check(
            unsafe call.pointee.Esys_GetCapability(context, none, none, none, kind, first, count, &more, &data),
            "Esys_GetCapability")
        defer { unsafe free(data) }
        return unsafe try bytes(unsafe data, unsafe call.pointee.Tss2_MU_TPMS_CAPABILITY_DATA_Marshal)
    }
}

// Structures of the library.
extension TPMConnection {
    private typealias Unmarshal = (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?, OpaquePointer?) -> UInt32
    private typealias Marshal = (OpaquePointer?, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?) ->
        UInt32

    private func room(_ wire: [UInt8], _ unmarshal: Unmarshal) throws(ChipFailure) -> TPMRoom {
        let room = TPMRoom()
        unsafe try fill(room, wire.span, unsafe unmarshal)
        return room
    }

    private func fill(
        _ room: borrowing TPMRoom, _ wire: borrowing Span<UInt8>, _ unmarshal: Unmarshal
    ) throws(ChipFailure) {
        var used = 0
        let code = unsafe wire.withUnsafeBufferPointer { bytes in
            unsafe unmarshal(bytes.baseAddress, bytes.count, &used, room.pointer)
        }
        guard code == 0, used == wire.count else { throw .damaged }
    }

    private func bytes(_ structure: OpaquePointer?, _ marshal: Marshal) throws(ChipFailure) -> [UInt8] {
        var (bytes, used) = ([UInt8](repeating: 0, count: Int(CTPM2_ROOM)), 0)
        let code = unsafe marshal(structure, &bytes, bytes.count, &used)
        try check(code, "Tss2_MU_Marshal")
        return Array(bytes.prefix(used))
    }

    private func free(_ structure: OpaquePointer?) {
        if let structure = unsafe structure { unsafe call.pointee.Esys_Free(UnsafeMutableRawPointer(structure)) }
    }
}

/// Memory for any structure of the library, all zeros; wiped at the end.
@safe struct TPMRoom: ~Copyable {
    private let start = UnsafeMutableRawPointer.allocate(byteCount: Int(CTPM2_ROOM), alignment: 16)

    init() {
        unsafe start.initializeMemory(as: UInt8.self, repeating: 0, count: Int(CTPM2_ROOM))
    }

    deinit {
        unsafe explicit_bzero(start, Int(CTPM2_ROOM))
        unsafe start.deallocate()
    }

    /// The structure.
    var pointer: OpaquePointer { unsafe OpaquePointer(start) }
}
