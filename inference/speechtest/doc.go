// Package speechtest measures how well callers are understood: synthetic callers
// over a telephone line, quiet and noisy, with and without noise removal, by the
// offline recogniser with the language model of an ordinary agent. It holds tests
// only.
//
// The voices are synthesised and the lines have one kind of steady noise each, so
// that the numbers serve to compare one version with the next; people do worse.
package speechtest
