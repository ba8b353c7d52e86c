// Part of the static program. The lookups of users, groups and hosts in the GNU C Library load the plug-ins (NSS) that
// /etc/nsswitch.conf names; these crash a program that contains another version of the library. Only the sources that
// are part of the library are used: /etc/passwd, /etc/group, /etc/hosts and DNS.
#include <nss.h>
#include <stddef.h>

__attribute__((constructor)) static void configure_lookups(void) {
  static const char *const databases[] = {"passwd", "group", "initgroups", "services", "protocols"};
  for (size_t index = 0; index < sizeof databases / sizeof *databases; index++) {
    __nss_configure_lookup(databases[index], "files");
  }
  __nss_configure_lookup("hosts", "files dns");
}
