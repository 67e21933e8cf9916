// DeviceIdentity
