/* SPDX-License-Identifier: Apache-2.0 */
/* Notes about files: of one state only, replaced by newer ones, freed once. */
#include "testing.h"

#include "base/alloc.h"
#include "store/file_notes.h"

#include <string.h>
#include <sys/stat.h>

static const struct tfp_file_identity file = {
	.device = 1, .inode = 2, .bytes = 3, .modified_ns = 4};

static void test_identities(void **state)
{
	struct tfp_file_identity other = file;
	struct stat st = {.st_dev = 1, .st_ino = 2, .st_size = 3, .st_mtim = {.tv_nsec = 4}};
	struct tfp_file_identity of = tfp_file_identity_of(&st);
	(void)state;
	assert_true(tfp_file_identity_equal(&of, &file));
	assert_int_equal(tfp_file_identity_hash(&of, 7), tfp_file_identity_hash(&file, 7));
	other.bytes++;
	assert_false(tfp_file_identity_equal(&other, &file));
	assert_true(tfp_file_identity_same_file(&other, &file));
	other = file;
	other.modified_ns++;
	assert_false(tfp_file_identity_equal(&other, &file));
	assert_true(tfp_file_identity_same_file(&other, &file));
	other = file;
	other.device++;
	assert_false(tfp_file_identity_same_file(&other, &file));
	other = file;
	other.inode++;
	assert_false(tfp_file_identity_same_file(&other, &file));
	/* A size below zero is none. */
	st.st_size = -1;
	assert_int_equal(tfp_file_identity_of(&st).bytes, 0);
}

static void test_one_state(void **state)
{
	static const struct tfp_file_notes_config config = {.files = 8, .note_size = sizeof(int)};
	struct tfp_file_identity newer = file;
	struct tfp_file_notes *notes;
	struct tfp_error err;
	int note = 5, got = 0;
	(void)state;
	assert_int_equal(tfp_file_notes_new(&notes, &config, &err), TFP_OK);
	assert_false(tfp_file_notes_recall(notes, &file, &got));
	tfp_file_notes_write(notes, &file, &note);
	assert_true(tfp_file_notes_recall(notes, &file, &got));
	assert_int_equal(got, 5);
	newer.modified_ns++;
	assert_false(tfp_file_notes_recall(notes, &newer, &got));
	note = 6;
	tfp_file_notes_write(notes, &newer, &note);
	assert_true(tfp_file_notes_recall(notes, &newer, &got));
	assert_int_equal(got, 6);
	assert_false(tfp_file_notes_recall(notes, &file, &got));
	tfp_file_notes_free(notes);
}

struct owner {
	char *text;
};

static unsigned drops;

static void drop(void *note)
{
	drops++;
	tfp_free(((struct owner *)note)->text);
}

static void copy(void *to, const void *note)
{
	strcpy(to, ((const struct owner *)note)->text);
}

/* More files than there is room for: as many notes are dropped as come, and none twice. */
static void test_full(void **state)
{
	static const struct tfp_file_notes_config config = {
		.files = 16, .note_size = sizeof(struct owner), .copy = copy, .drop = drop};
	enum { FILES = 100 };
	struct tfp_file_notes *notes;
	struct tfp_error err;
	char got[16];
	unsigned known = 0;
	(void)state;
	assert_int_equal(tfp_file_notes_new(&notes, &config, &err), TFP_OK);
	for (unsigned i = 0; i < FILES; i++) {
		struct tfp_file_identity id = file;
		id.inode = i;
		struct owner note = {tfp_strdup("a note")};
		assert_non_null(note.text);
		tfp_file_notes_write(notes, &id, &note);
		assert_true(tfp_file_notes_recall(notes, &id, got));
		assert_string_equal(got, "a note");
	}
	for (unsigned i = 0; i < FILES; i++) {
		struct tfp_file_identity id = file;
		id.inode = i;
		known += tfp_file_notes_recall(notes, &id, got);
	}
	assert_int_equal(known, 16);
	assert_int_equal(drops, FILES - known);
	tfp_file_notes_free(notes);
	assert_int_equal(drops, FILES);
	tfp_file_notes_free(NULL);
}

/* Of a file that grows the note about its beginning is still good; not of one that shrank. */
static void test_earlier(void **state)
{
	static const struct tfp_file_notes_config config = {.files = 8, .note_size = sizeof(int)};
	struct tfp_file_notes *notes;
	struct tfp_file_identity id = file;
	struct tfp_error err;
	int note = 7, got = 0;
	(void)state;
	id.bytes = 100;
	assert_int_equal(tfp_file_notes_new(&notes, &config, &err), TFP_OK);
	tfp_file_notes_write(notes, &id, &note);
	id.bytes = 101;
	id.modified_ns++;
	assert_false(tfp_file_notes_recall(notes, &id, &got));
	assert_true(tfp_file_notes_recall_earlier(notes, &id, &got));
	assert_int_equal(got, 7);
	id.bytes = 99;
	assert_false(tfp_file_notes_recall_earlier(notes, &id, &got));
	id.bytes = 101;
	id.inode++;
	assert_false(tfp_file_notes_recall_earlier(notes, &id, &got));
	tfp_file_notes_free(notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identities),
		cmocka_unit_test(test_one_state),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_earlier),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
