// Numbers from SecBase.h in Apple's Security-61901. Defined for source compatibility; few of them are returned here.

/// Not initialized.
public let errSecNotInitialized: OSStatus = -67667
/// Invalid handle usage.
public let errSecInvalidHandleUsage: OSStatus = -67668
/// PVC referent not found.
public let errSecPVCReferentNotFound: OSStatus = -67669
/// Function integrity fail.
public let errSecFunctionIntegrityFail: OSStatus = -67670
/// Internal error.
public let errSecInternalError: OSStatus = -67671
/// Memory error.
public let errSecMemoryError: OSStatus = -67672
/// Invalid data.
public let errSecInvalidData: OSStatus = -67673
/// MDS error.
public let errSecMDSError: OSStatus = -67674
/// Invalid pointer.
public let errSecInvalidPointer: OSStatus = -67675
/// Self check failed.
public let errSecSelfCheckFailed: OSStatus = -67676
/// Function failed.
public let errSecFunctionFailed: OSStatus = -67677
/// Module manifest verify failed.
public let errSecModuleManifestVerifyFailed: OSStatus = -67678
/// Invalid GUID.
public let errSecInvalidGUID: OSStatus = -67679
/// Invalid handle.
public let errSecInvalidHandle: OSStatus = -67680
/// Invalid DB list.
public let errSecInvalidDBList: OSStatus = -67681
/// Invalid passthrough ID.
public let errSecInvalidPassthroughID: OSStatus = -67682
/// Invalid network address.
public let errSecInvalidNetworkAddress: OSStatus = -67683
/// CRL already signed.
public let errSecCRLAlreadySigned: OSStatus = -67684
/// Invalid number of fields.
public let errSecInvalidNumberOfFields: OSStatus = -67685
/// Verification failure.
public let errSecVerificationFailure: OSStatus = -67686
/// Unknown tag.
public let errSecUnknownTag: OSStatus = -67687
/// Invalid signature.
public let errSecInvalidSignature: OSStatus = -67688
/// Invalid name.
public let errSecInvalidName: OSStatus = -67689
/// Invalid certificate ref.
public let errSecInvalidCertificateRef: OSStatus = -67690
/// Invalid certificate group.
public let errSecInvalidCertificateGroup: OSStatus = -67691
/// Tag not found.
public let errSecTagNotFound: OSStatus = -67692
/// Invalid query.
public let errSecInvalidQuery: OSStatus = -67693
/// Invalid value.
public let errSecInvalidValue: OSStatus = -67694
/// Callback failed.
public let errSecCallbackFailed: OSStatus = -67695
/// ACL delete failed.
public let errSecACLDeleteFailed: OSStatus = -67696
/// ACL replace failed.
public let errSecACLReplaceFailed: OSStatus = -67697
/// ACL add failed.
public let errSecACLAddFailed: OSStatus = -67698
/// ACL change failed.
public let errSecACLChangeFailed: OSStatus = -67699
/// Invalid access credentials.
public let errSecInvalidAccessCredentials: OSStatus = -67700
/// Invalid record.
public let errSecInvalidRecord: OSStatus = -67701
/// Invalid ACL.
public let errSecInvalidACL: OSStatus = -67702
/// Invalid sample value.
public let errSecInvalidSampleValue: OSStatus = -67703
/// Incompatible version.
public let errSecIncompatibleVersion: OSStatus = -67704
/// Privilege not granted.
public let errSecPrivilegeNotGranted: OSStatus = -67705
/// Invalid scope.
public let errSecInvalidScope: OSStatus = -67706
/// PVC already configured.
public let errSecPVCAlreadyConfigured: OSStatus = -67707
/// Invalid PVC.
public let errSecInvalidPVC: OSStatus = -67708
/// EMM load failed.
public let errSecEMMLoadFailed: OSStatus = -67709
/// EMM unload failed.
public let errSecEMMUnloadFailed: OSStatus = -67710
/// Addin load failed.
public let errSecAddinLoadFailed: OSStatus = -67711
/// Invalid key ref.
public let errSecInvalidKeyRef: OSStatus = -67712
/// Invalid key hierarchy.
public let errSecInvalidKeyHierarchy: OSStatus = -67713
/// Addin unload failed.
public let errSecAddinUnloadFailed: OSStatus = -67714
/// Library reference not found.
public let errSecLibraryReferenceNotFound: OSStatus = -67715
/// Invalid addin function table.
public let errSecInvalidAddinFunctionTable: OSStatus = -67716
/// Invalid service mask.
public let errSecInvalidServiceMask: OSStatus = -67717
/// Module not loaded.
public let errSecModuleNotLoaded: OSStatus = -67718
/// Invalid sub service ID.
public let errSecInvalidSubServiceID: OSStatus = -67719
/// Attribute not in context.
public let errSecAttributeNotInContext: OSStatus = -67720
/// Module manager initialize failed.
public let errSecModuleManagerInitializeFailed: OSStatus = -67721
/// Module manager not found.
public let errSecModuleManagerNotFound: OSStatus = -67722
/// Event notification callback not found.
public let errSecEventNotificationCallbackNotFound: OSStatus = -67723
/// Input length error.
public let errSecInputLengthError: OSStatus = -67724
/// Output length error.
public let errSecOutputLengthError: OSStatus = -67725
/// Privilege not supported.
public let errSecPrivilegeNotSupported: OSStatus = -67726
/// Device error.
public let errSecDeviceError: OSStatus = -67727
/// Attach handle busy.
public let errSecAttachHandleBusy: OSStatus = -67728
/// Not logged in.
public let errSecNotLoggedIn: OSStatus = -67729
/// Algorithm mismatch.
public let errSecAlgorithmMismatch: OSStatus = -67730
/// Key usage incorrect.
public let errSecKeyUsageIncorrect: OSStatus = -67731
/// Key blob type incorrect.
public let errSecKeyBlobTypeIncorrect: OSStatus = -67732
/// Key header inconsistent.
public let errSecKeyHeaderInconsistent: OSStatus = -67733
/// Unsupported key format.
public let errSecUnsupportedKeyFormat: OSStatus = -67734
/// Unsupported key size.
public let errSecUnsupportedKeySize: OSStatus = -67735
/// Invalid key usage mask.
public let errSecInvalidKeyUsageMask: OSStatus = -67736
/// Unsupported key usage mask.
public let errSecUnsupportedKeyUsageMask: OSStatus = -67737
/// Invalid key attribute mask.
public let errSecInvalidKeyAttributeMask: OSStatus = -67738
/// Unsupported key attribute mask.
public let errSecUnsupportedKeyAttributeMask: OSStatus = -67739
/// Invalid key label.
public let errSecInvalidKeyLabel: OSStatus = -67740
/// Unsupported key label.
public let errSecUnsupportedKeyLabel: OSStatus = -67741
/// Invalid key format.
public let errSecInvalidKeyFormat: OSStatus = -67742
/// Unsupported vector of buffers.
public let errSecUnsupportedVectorOfBuffers: OSStatus = -67743
/// Invalid input vector.
public let errSecInvalidInputVector: OSStatus = -67744
/// Invalid output vector.
public let errSecInvalidOutputVector: OSStatus = -67745
/// Invalid context.
public let errSecInvalidContext: OSStatus = -67746
/// Invalid algorithm.
public let errSecInvalidAlgorithm: OSStatus = -67747
/// Invalid attribute key.
public let errSecInvalidAttributeKey: OSStatus = -67748
/// Missing attribute key.
public let errSecMissingAttributeKey: OSStatus = -67749
/// Invalid attribute init vector.
public let errSecInvalidAttributeInitVector: OSStatus = -67750
/// Missing attribute init vector.
public let errSecMissingAttributeInitVector: OSStatus = -67751
/// Invalid attribute salt.
public let errSecInvalidAttributeSalt: OSStatus = -67752
/// Missing attribute salt.
public let errSecMissingAttributeSalt: OSStatus = -67753
/// Invalid attribute padding.
public let errSecInvalidAttributePadding: OSStatus = -67754
/// Missing attribute padding.
public let errSecMissingAttributePadding: OSStatus = -67755
/// Invalid attribute random.
public let errSecInvalidAttributeRandom: OSStatus = -67756
/// Missing attribute random.
public let errSecMissingAttributeRandom: OSStatus = -67757
/// Invalid attribute seed.
public let errSecInvalidAttributeSeed: OSStatus = -67758
/// Missing attribute seed.
public let errSecMissingAttributeSeed: OSStatus = -67759
/// Invalid attribute passphrase.
public let errSecInvalidAttributePassphrase: OSStatus = -67760
/// Missing attribute passphrase.
public let errSecMissingAttributePassphrase: OSStatus = -67761
/// Invalid attribute key length.
public let errSecInvalidAttributeKeyLength: OSStatus = -67762
/// Missing attribute key length.
public let errSecMissingAttributeKeyLength: OSStatus = -67763
/// Invalid attribute block size.
public let errSecInvalidAttributeBlockSize: OSStatus = -67764
/// Missing attribute block size.
public let errSecMissingAttributeBlockSize: OSStatus = -67765
/// Invalid attribute output size.
public let errSecInvalidAttributeOutputSize: OSStatus = -67766
/// Missing attribute output size.
public let errSecMissingAttributeOutputSize: OSStatus = -67767
/// Invalid attribute rounds.
public let errSecInvalidAttributeRounds: OSStatus = -67768
/// Missing attribute rounds.
public let errSecMissingAttributeRounds: OSStatus = -67769
/// Invalid algorithm parameters.
public let errSecInvalidAlgorithmParms: OSStatus = -67770
/// Missing algorithm parameters.
public let errSecMissingAlgorithmParms: OSStatus = -67771
/// Invalid attribute label.
public let errSecInvalidAttributeLabel: OSStatus = -67772
/// Missing attribute label.
public let errSecMissingAttributeLabel: OSStatus = -67773
/// Invalid attribute key type.
public let errSecInvalidAttributeKeyType: OSStatus = -67774
/// Missing attribute key type.
public let errSecMissingAttributeKeyType: OSStatus = -67775
/// Invalid attribute mode.
public let errSecInvalidAttributeMode: OSStatus = -67776
/// Missing attribute mode.
public let errSecMissingAttributeMode: OSStatus = -67777
/// Invalid attribute effective bits.
public let errSecInvalidAttributeEffectiveBits: OSStatus = -67778
/// Missing attribute effective bits.
public let errSecMissingAttributeEffectiveBits: OSStatus = -67779
/// Invalid attribute start date.
public let errSecInvalidAttributeStartDate: OSStatus = -67780
/// Missing attribute start date.
public let errSecMissingAttributeStartDate: OSStatus = -67781
/// Invalid attribute end date.
public let errSecInvalidAttributeEndDate: OSStatus = -67782
/// Missing attribute end date.
public let errSecMissingAttributeEndDate: OSStatus = -67783
/// Invalid attribute version.
public let errSecInvalidAttributeVersion: OSStatus = -67784
/// Missing attribute version.
public let errSecMissingAttributeVersion: OSStatus = -67785
/// Invalid attribute prime.
public let errSecInvalidAttributePrime: OSStatus = -67786
/// Missing attribute prime.
public let errSecMissingAttributePrime: OSStatus = -67787
/// Invalid attribute base.
public let errSecInvalidAttributeBase: OSStatus = -67788
/// Missing attribute base.
public let errSecMissingAttributeBase: OSStatus = -67789
/// Invalid attribute subprime.
public let errSecInvalidAttributeSubprime: OSStatus = -67790
/// Missing attribute subprime.
public let errSecMissingAttributeSubprime: OSStatus = -67791
/// Invalid attribute iteration count.
public let errSecInvalidAttributeIterationCount: OSStatus = -67792
/// Missing attribute iteration count.
public let errSecMissingAttributeIterationCount: OSStatus = -67793
/// Invalid attribute DLDB handle.
public let errSecInvalidAttributeDLDBHandle: OSStatus = -67794
/// Missing attribute DLDB handle.
public let errSecMissingAttributeDLDBHandle: OSStatus = -67795
/// Invalid attribute access credentials.
public let errSecInvalidAttributeAccessCredentials: OSStatus = -67796
/// Missing attribute access credentials.
public let errSecMissingAttributeAccessCredentials: OSStatus = -67797
/// Invalid attribute public key format.
public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67798
/// Missing attribute public key format.
public let errSecMissingAttributePublicKeyFormat: OSStatus = -67799
/// Invalid attribute private key format.
public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67800
/// Missing attribute private key format.
public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67801
/// Invalid attribute symmetric key format.
public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67802
/// Missing attribute symmetric key format.
public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67803
/// Invalid attribute wrapped key format.
public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67804
/// Missing attribute wrapped key format.
public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67805
