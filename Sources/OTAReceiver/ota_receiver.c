#include "ota_receiver.h"
