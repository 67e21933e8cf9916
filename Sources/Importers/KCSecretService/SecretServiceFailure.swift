/// Why the Secret Service cannot be used, or does not carry out a request.
package enum SecretServiceFailure: Error, Hashable, Sendable {
    /// libsecret is not installed or too old: this library or function is missing.
    case libraryMissing(String)
    /// There is no session bus at any of these paths.
    case noBus(lookedAt: [String])
    /// The socket of the bus belongs to another user.
    case foreignBus(path: String, owner: UInt32)
    /// The path of the bus is not a socket.
    case notASocket(path: String)
    /// The bus refuses the connection.
    case busRefuses(address: String, reason: String)
    /// The bus does not answer.
    case busSilent(address: String)
    /// The bus is not at a socket of this machine, so its owner cannot be checked.
    case busElsewhere(address: String)
    /// The bus has no Secret Service, and cannot start one.
    case noService
    /// The bus could not start the Secret Service.
    case serviceDoesNotStart(reason: String)
    /// The Secret Service ended, or the bus did.
    case serviceEnded
    /// The Secret Service does not answer.
    case noAnswer
    /// The Secret Service offers no encrypted session.
    case sessionNotEncrypted
    /// These collections are locked, or hold a locked item.
    case locked([String])
    /// Something is locked; the service does not say what.
    case somethingLocked
    /// These collections are locked, and cannot be restored into or changed.
    case lockedTarget([String])
    /// Items were changed or deleted since they were shown.
    case changedMeanwhile
    /// No collection has this label or alias.
    case noCollection(String)
    /// There is no collection to back up.
    case noCollections
    /// Several collections have this label.
    case severalCollections(String)
    /// There is no default collection for items that do not come from a service.
    case noDefaultCollection
    /// This collection does not exist, and creating it requires a password.
    case collectionMissing(String)
    /// The service accepts passwords only in its own prompt.
    case passwordNotTaken
    /// The password of a collection is wrong.
    case wrongPassword(collection: String)
    /// The prompt of the desktop was closed.
    case promptDismissed
    /// The service requires a prompt for a request, and no user can answer it.
    case asksFirst(Request)
    /// The service did not carry out a request, without a reason.
    case notDone(Request)
    /// A request could not be sent, for this reason on this side.
    case notSent(Request, reason: String)
    /// The service refused a request; both texts are foreign text.
    case request(Request, name: String, message: String)
    /// The service's reply does not conform to its interface.
    case malformed(Request)
    case interrupted

    /// True if this machine has no keyring that can be reached, or lacks what it takes.
    package var isOfConnection: Bool {
        switch self {
        case .libraryMissing, .noBus, .noService, .serviceDoesNotStart: true
        default: false
        }
    }

    /// The request that was sent to the service.
    package enum Request: String, CaseIterable, Hashable, Sendable {
        case connecting = "opening a session"
        case listing = "listing collections"
        case reading = "reading an item"
        case secrets = "reading secrets"
        case unlocking = "unlocking a collection"
        case creatingCollection = "making a collection"
        case writing = "writing an item"
        case deleting = "deleting an item"
    }
}
