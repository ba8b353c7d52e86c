#ifndef OTA_RECEIVER_H
#define OTA_RECEIVER_H
#include <stdint.h>
#endif
