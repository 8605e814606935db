// Exceptions through functions whose returns are traced. The results go to the
// file that is named.
#include <fstream>
#include <stdexcept>

__attribute__((noinline)) long deep(long n)
{
	if (n == 0)
		throw std::runtime_error("bottom");
	return deep(n - 1) + 1;
}

__attribute__((noinline)) long caught(long n)
{
	try {
		return deep(n);
	} catch (const std::exception &e) {
		return -n;
	}
}

int main(int argc, char **argv)
{
	std::ofstream out(argv[1]);
	for (int i = 0; i < 50; i++)
		out << caught(i) << "\n";
}
