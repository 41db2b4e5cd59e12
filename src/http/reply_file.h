/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finished answers in the result cache. The key of an answer names every file of the run, with
 * its state and a hash of its head and tail, as keys of summaries do.
 */
#ifndef TFP_HTTP_REPLY_FILE_H
#define TFP_HTTP_REPLY_FILE_H

#include "http/question.h"

/* Initialises key, and fills it. The caller releases it. Returns false when the answer is not kept
 * on disk, or a file cannot be opened. */
bool tfp_reply_file_key(const struct tfp_question *question, struct tfp_buf *key);
/* Fills an initialised reply, but for its tag. Returns whether there was an answer. */
bool tfp_reply_file_read(const struct tfp_question *question, const struct tfp_buf *key,
			 struct tfp_reply *reply);
/* Keeps a reply, if it is not too large and key is still the key of the files. */
void tfp_reply_file_write(const struct tfp_question *question, const struct tfp_buf *key,
			  const struct tfp_reply *reply);

#endif
