/*
 * Prints what C's printf makes of the cases on standard input, each followed by
 * a NUL. A case is a line of tab-separated fields: the kind of argument, the
 * format, width and precision for its asterisks (each preceded by whether the
 * format has it), and the value: a number, the bits of a double, or a string in
 * hexadecimal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOW(value)                                                            \
	(has_width && has_precision ? printf(format, width, precision, value)  \
	 : has_width		    ? printf(format, width, value)             \
	 : has_precision	    ? printf(format, precision, value)         \
				    : printf(format, value))

int main(void)
{
	static char line[4096], format[256], hex[2048], text[1024];
	char kind;
	int has_width, width, has_precision, precision;

	while (fgets(line, sizeof line, stdin) != NULL) {
		if (sscanf(line, "%c\t%255[^\t]\t%d %d %d %d\t%2047s", &kind, format, &has_width, &width,
			   &has_precision, &precision, hex) < 6)
			return 1;
		unsigned long long bits = strtoull(hex, NULL, 16);
		double number;
		switch (kind) {
		case 'i': SHOW((int)bits); break;
		case 'l': SHOW((long)bits); break;
		case 'q': SHOW((long long)bits); break;
		case 'd': memcpy(&number, &bits, sizeof number); SHOW(number); break;
		case 's':
			memset(text, 0, sizeof text);
			for (size_t i = 1; hex[i] != '\0' && hex[i + 1] != '\0'; i += 2) {
				char byte[3] = {hex[i], hex[i + 1], '\0'};
				text[i / 2] = (char)strtol(byte, NULL, 16);
			}
			SHOW(text);
			break;
		default: return 1;
		}
		putchar('\0');
	}
	return 0;
}
