#ifndef GODWIT_CURL_H
#define GODWIT_CURL_H

#include <curl/curl.h>

// libcurl (curl.se/libcurl), which is loaded when it is first asked for: the forty libraries that it brings would take a
// third of the time in which a program starts, and most programs reach no object store. The functions are libcurl's own;
// those with variable arguments, which Swift cannot call, have one for each kind of argument. None but godwit_curl_load
// may be called before that has returned 1.

// No library that this is linked into gives them to others.
#pragma GCC visibility push(hidden)

typedef size_t (*godwit_curl_transfer)(char *bytes, size_t size, size_t count, void *context);
typedef int (*godwit_curl_progress)(void *context, curl_off_t expected, curl_off_t received, curl_off_t toSend, curl_off_t sent);
typedef int (*godwit_curl_seek)(void *context, curl_off_t offset, int origin);

/// 1 when libcurl is there, whole and ready; any thread may ask, and later calls cost nothing.
int godwit_curl_load(void);

CURL *godwit_curl_open(void);
void godwit_curl_close(CURL *curl);
void godwit_curl_reset(CURL *curl);
CURLcode godwit_curl_perform(CURL *curl);

CURLcode godwit_curl_set_long(CURL *curl, CURLoption option, long value);
CURLcode godwit_curl_set_offset(CURL *curl, CURLoption option, curl_off_t value);
CURLcode godwit_curl_set_text(CURL *curl, CURLoption option, const char *value);
CURLcode godwit_curl_set_pointer(CURL *curl, CURLoption option, void *value);
CURLcode godwit_curl_set_transfer(CURL *curl, CURLoption option, godwit_curl_transfer function);
CURLcode godwit_curl_set_progress(CURL *curl, godwit_curl_progress function);
CURLcode godwit_curl_set_seek(CURL *curl, godwit_curl_seek function);

/// The status of the answer, 0 before there is one.
long godwit_curl_status(CURL *curl);
/// The status of a proxy's last answer to CONNECT; 0 without one.
long godwit_curl_proxy_status(CURL *curl);

struct curl_slist *godwit_curl_append(struct curl_slist *list, const char *line);
void godwit_curl_free(struct curl_slist *list);

const char *godwit_curl_reason(CURLcode code);

/// Seconds since 1970 of a date as HTTP writes it, -1 for what is none.
time_t godwit_curl_date(const char *text);

#pragma GCC visibility pop

#endif
