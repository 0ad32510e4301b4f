/*
 * Plays the hook tool by whose name it is called, as package hookclient does: sends its
 * arguments over the socket that the hook's environment names, and prints the answer.
 *
 * It is in C for one reason. A hook calls dozens of tools, each a process of its own, and
 * the tests run tens of thousands of hooks: a program in Go spends three times as long on
 * its start as this one takes in all.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct text {
	char *bytes;
	size_t size;
};

static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("ERROR ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static void append(struct text *t, const char *bytes, size_t size)
{
	t->bytes = realloc(t->bytes, t->size + size + 1);
	if (!t->bytes)
		fail("out of memory");
	if (size)
		memcpy(t->bytes + t->size, bytes, size);
	t->size += size;
	t->bytes[t->size] = 0;
}

/* A field stands behind its length. */
static void append_field(struct text *t, const char *bytes, size_t size)
{
	char length[32];

	append(t, length, snprintf(length, sizeof length, "%zu:", size));
	append(t, bytes, size);
}

/* Takes the first field off the rest; false where it is not whole. */
static int take_field(struct text *rest, struct text *field)
{
	char *end;
	size_t size;

	if (!rest->size || *rest->bytes < '0' || *rest->bytes > '9')
		return 0;
	size = strtoul(rest->bytes, &end, 10);
	if (*end != ':' || size > (size_t)(rest->bytes + rest->size - end - 1))
		return 0;
	*field = (struct text){end + 1, size};
	rest->size -= end + 1 + size - rest->bytes;
	rest->bytes = end + 1 + size;
	return 1;
}

static int number(struct text digits)
{
	int n = 0;

	for (; digits.size; digits.size--)
		n = 10 * n + *digits.bytes++ - '0';
	return n;
}

static struct text read_all(int fd)
{
	struct text all = {0};
	char buffer[16384];
	ssize_t n;

	append(&all, "", 0);
	while ((n = read(fd, buffer, sizeof buffer)) != 0) {
		if (n > 0)
			append(&all, buffer, n);
		else if (errno == ECONNRESET)
			break; /* as if it had ended: the hook is being killed */
		else if (errno != EINTR)
			fail("cannot read: %s", strerror(errno));
	}
	return all;
}

static void write_all(int fd, struct text t)
{
	while (t.size) {
		ssize_t n = write(fd, t.bytes, t.size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return; /* what reads it has ended */
		t.bytes += n;
		t.size -= n;
	}
}

static struct text ask(const char *path, struct text request)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = 60};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof to.sun_path)
		fail("cannot make a socket to %s", path);
	strcpy(to.sun_path, path);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	if (connect(fd, (struct sockaddr *)&to, sizeof to))
		fail("cannot connect to %s: %s", path, strerror(errno));
	while (request.size) {
		ssize_t n = send(fd, request.bytes, request.size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		request.bytes += n;
		request.size -= n;
	}
	shutdown(fd, SHUT_WR);
	struct text answer = read_all(fd);
	close(fd);
	return answer;
}

static const char *need(const char *variable)
{
	const char *value = getenv(variable);

	if (!value || !*value)
		fail("%s not set", variable);
	return value;
}

static struct text request(char **argv, const char *context, const char *dir, const char *flag, struct text input)
{
	struct text all = {0};
	const char *name = strrchr(*argv, '/') ? strrchr(*argv, '/') + 1 : *argv;

	append_field(&all, context, strlen(context));
	append_field(&all, dir, strlen(dir));
	append_field(&all, name, strlen(name));
	append_field(&all, flag, strlen(flag));
	append_field(&all, input.bytes, input.size);
	while (*++argv)
		append_field(&all, *argv, strlen(*argv));
	return all;
}

int main(int argc, char **argv)
{
	const char *context = need("JUJU_CONTEXT_ID"), *socket = need("JUJU_AGENT_SOCKET_ADDRESS");
	char *dir = getcwd(NULL, 0);
	struct text rest, code, out, errors, wants, input = {0};
	const char *flag = "";

	(void)argc;
	if (!dir)
		fail("cannot tell the working directory: %s", strerror(errno));
	for (;;) {
		rest = ask(socket, request(argv, context, dir, flag, input));
		if (!take_field(&rest, &code) || !take_field(&rest, &out) || !take_field(&rest, &errors) || !take_field(&rest, &wants))
			fail("EOF"); /* no answer: the hook is being killed */
		if (!wants.size || *flag)
			break;
		flag = "stdin";
		input = read_all(STDIN_FILENO);
	}
	write_all(STDOUT_FILENO, out);
	write_all(STDERR_FILENO, errors);
	return number(code);
}
