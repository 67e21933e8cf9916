/* How mlkem-native is built here: ML-KEM-768 in portable C, as one compilation unit. Random bytes come from the caller. */
#pragma once

#define MLK_CONFIG_PARAMETER_SET 768
#define MLK_CONFIG_NAMESPACE_PREFIX kcbackup_mlkem768
#define MLK_CONFIG_NO_RANDOMIZED_API
#define MLK_CONFIG_INTERNAL_API_QUALIFIER static
