internal import KCKeychainModel
package import KCReportText

/// The marks of items whose seals do not prove their attributes.
package enum SealCheck {
    /// The JSON member that marks an item whose seal is broken; it is left out of others.
    package static func member(isBroken: Bool) -> (String, JSONValue?) { ("sealBroken", isBroken ? .flag(true) : nil) }
}

extension Session {
    /// Reports broken seals of listed items.
    ///
    /// - Returns: `incomplete` if there are any, otherwise `status`.
    package func status(_ status: ExitStatus, brokenSeals count: Int) -> ExitStatus {
        if count == 0 { return status }
        warn(
            "the seals of \(counted(count, "item")) do not fit: another program changed what is shown, or the keychain is "
                + "damaged; 'kcbackup restore ARCHIVE \(OptionName.onConflict.spelling) overwrite' brings back what a backup has"
        )
        return .incomplete
    }
}
