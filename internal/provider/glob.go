package provider

import "path"

// Matches reports whether a name is meant by one field of a description: any
// name by the empty field, itself by a plain name, and what the shell would
// match by a glob (*, ?, [...], and a backslash that takes the next character
// literally).
func Matches(field, name string) bool {
	if field == "" || field == name {
		return true
	}
	if !IsGlob(field) {
		return false
	}
	ok, err := path.Match(field, name)
	return err == nil && ok
}

// IsGlob reports whether a field has characters of a glob.
func IsGlob(field string) bool {
	for i := range len(field) {
		switch field[i] {
		case '*', '?', '[', '\\':
			return true
		}
	}
	return false
}

// OrAny is a field of a description for a message: "*" for the empty one.
func OrAny(field string) string {
	if field == "" {
		return "*"
	}
	return field
}
