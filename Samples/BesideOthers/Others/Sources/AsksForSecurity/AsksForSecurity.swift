// How packages ask whether they are on one of Apple's systems; what they then use is not in kcbackup.
#if canImport(Security)
    import Security

    /// True on Apple's systems.
    public let isOnAppleSystem = SSLContextGetTypeID() != 0
#else
    /// True on Apple's systems.
    public let isOnAppleSystem = false
#endif
