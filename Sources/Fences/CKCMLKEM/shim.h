#pragma once

#define MLK_CONFIG_FILE "configuration.h"
#include "mlkem-native/mlkem_native.h"
