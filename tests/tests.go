// Package tests holds the acceptance tests: scripts that use the command as a
// user does, in guests of every kernel that kinst is tested on.
package tests
