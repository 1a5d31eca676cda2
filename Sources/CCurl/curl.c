// Each function of libcurl is called by its address, so that no program needs the library to start.
#define CURL_DISABLE_TYPECHECK
#define _GNU_SOURCE
#include "CCurl.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#define FUNCTIONS(each) \
  each(curl_version_info) \
  each(curl_global_init) \
  each(curl_easy_init) \
  each(curl_easy_cleanup) \
  each(curl_easy_reset) \
  each(curl_easy_perform) \
  each(curl_easy_setopt) \
  each(curl_easy_getinfo) \
  each(curl_easy_strerror) \
  each(curl_slist_append) \
  each(curl_slist_free_all) \
  each(curl_getdate)

static struct {
#define MEMBER(name) __typeof__(&name) call_##name;
  FUNCTIONS(MEMBER)
} libcurl;

static int isReady;

static int find(void *place) {
#define FIND(name) \
  libcurl.call_##name = (__typeof__(&name))dlsym(place, #name); \
  if (libcurl.call_##name == NULL) return 0;
  FUNCTIONS(FIND)
  // Earlier ones sign an upload with another hash than the x-amz-content-sha256 that is given, and without TLS no
  // certificate would be looked at.
  const curl_version_info_data *version = libcurl.call_curl_version_info(CURLVERSION_NOW);
  return version->version_num >= 0x075700 && (version->features & CURL_VERSION_SSL);
}

static void load(void) {
  // A program that is linked with libcurl, or a package that has it inside under a name of its own, has it already.
  int isFound = find(RTLD_DEFAULT);
  if (!isFound) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    isFound = library != NULL && find(library);
  }
  isReady = isFound && libcurl.call_curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

int godwit_curl_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  return pthread_once(&once, load) == 0 && isReady;
}

CURL *godwit_curl_open(void) { return libcurl.call_curl_easy_init(); }
void godwit_curl_close(CURL *curl) { libcurl.call_curl_easy_cleanup(curl); }
void godwit_curl_reset(CURL *curl) { libcurl.call_curl_easy_reset(curl); }
CURLcode godwit_curl_perform(CURL *curl) { return libcurl.call_curl_easy_perform(curl); }

CURLcode godwit_curl_set_long(CURL *curl, CURLoption option, long value) {
  return libcurl.call_curl_easy_setopt(curl, option, value);
}
CURLcode godwit_curl_set_offset(CURL *curl, CURLoption option, curl_off_t value) {
  return libcurl.call_curl_easy_setopt(curl, option, value);
}
CURLcode godwit_curl_set_text(CURL *curl, CURLoption option, const char *value) {
  return libcurl.call_curl_easy_setopt(curl, option, value);
}
CURLcode godwit_curl_set_pointer(CURL *curl, CURLoption option, void *value) {
  return libcurl.call_curl_easy_setopt(curl, option, value);
}
CURLcode godwit_curl_set_transfer(CURL *curl, CURLoption option, godwit_curl_transfer function) {
  return libcurl.call_curl_easy_setopt(curl, option, function);
}
CURLcode godwit_curl_set_progress(CURL *curl, godwit_curl_progress function) {
  return libcurl.call_curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, function);
}
CURLcode godwit_curl_set_seek(CURL *curl, godwit_curl_seek function) {
  return libcurl.call_curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, function);
}

long godwit_curl_status(CURL *curl) {
  long status = 0;
  libcurl.call_curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

long godwit_curl_proxy_status(CURL *curl) {
  long status = 0;
  libcurl.call_curl_easy_getinfo(curl, CURLINFO_HTTP_CONNECTCODE, &status);
  return status;
}

struct curl_slist *godwit_curl_append(struct curl_slist *list, const char *line) {
  return libcurl.call_curl_slist_append(list, line);
}
void godwit_curl_free(struct curl_slist *list) { libcurl.call_curl_slist_free_all(list); }

const char *godwit_curl_reason(CURLcode code) { return libcurl.call_curl_easy_strerror(code); }
time_t godwit_curl_date(const char *text) { return libcurl.call_curl_getdate(text, NULL); }
