#include "esp.h"
