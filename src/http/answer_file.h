/*
 * A finished answer in the result cache. Its key names every file of the run with
 * its state, head and tail included, as those of summaries do.
 */
#ifndef TFP_HTTP_ANSWER_FILE_H
#define TFP_HTTP_ANSWER_FILE_H

#include "http/router.h"

/* Initialises key, released by the caller. false when there is none: the answer is not kept on
 * disk, or a file cannot be opened. */
bool tfp_answer_file_key(const struct tfp_question *question, struct tfp_buf *key);
/* Fills an initialised reply, its tag excepted. */
bool tfp_answer_file_read(const struct tfp_question *question, const struct tfp_buf *key,
			  struct tfp_reply *reply);
/* Keeps it, if it is not too large and the key is still that of the files. */
void tfp_answer_file_write(const struct tfp_question *question, const struct tfp_buf *key,
			   const struct tfp_reply *reply);

#endif
