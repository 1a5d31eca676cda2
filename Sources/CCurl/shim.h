#include <curl/curl.h>

// Swift cannot call C functions with variable arguments; these give each kind of argument a function of its own.

typedef size_t (*godwit_curl_transfer)(char *bytes, size_t size, size_t count, void *context);
typedef int (*godwit_curl_progress)(void *context, curl_off_t expected, curl_off_t received, curl_off_t toSend, curl_off_t sent);
typedef int (*godwit_curl_seek)(void *context, curl_off_t offset, int origin);

static inline CURLcode godwit_curl_set_long(CURL *curl, CURLoption option, long value) {
  return curl_easy_setopt(curl, option, value);
}
static inline CURLcode godwit_curl_set_offset(CURL *curl, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(curl, option, value);
}
static inline CURLcode godwit_curl_set_text(CURL *curl, CURLoption option, const char *value) {
  return curl_easy_setopt(curl, option, value);
}
static inline CURLcode godwit_curl_set_pointer(CURL *curl, CURLoption option, void *value) {
  return curl_easy_setopt(curl, option, value);
}
static inline CURLcode godwit_curl_set_transfer(CURL *curl, CURLoption option, godwit_curl_transfer function) {
  return curl_easy_setopt(curl, option, function);
}
static inline CURLcode godwit_curl_set_progress(CURL *curl, godwit_curl_progress function) {
  return curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, function);
}
static inline CURLcode godwit_curl_set_seek(CURL *curl, godwit_curl_seek function) {
  return curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, function);
}
static inline long godwit_curl_status(CURL *curl) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}
