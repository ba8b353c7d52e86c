#if Sites
import HummingbirdTesting
import Testing
#endif
