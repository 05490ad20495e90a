/* The pairs of a NumPy file of boxes, one "a b" per line: what `broadphase pairs FILE` finds, written with the header alone.
 *
 *     cc npy_pairs.c $(pkg-config --cflags --libs broadphase) -o npy_pairs && ./npy_pairs boxes.npy
 *
 * The file holds little-endian float32 or float64 in C order, of shape (n, 4) or (n, 6): rows min..., max...
 */
#include <broadphase.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with a reason. */
static void fail(const char *path, const char *reason) {
    fprintf(stderr, "%s: %s\n", path, reason);
    exit(1);
}

/* Reads the header: the format and the number of rows. */
static void read_header(FILE *file, const char *path, bp_format *format, size_t *count) {
    unsigned char start[8];
    unsigned char length_bytes[4] = {0};
    if (fread(start, 1, 8, file) != 8 || memcmp(start, "\x93NUMPY", 6) != 0) {
        fail(path, "this is no NumPy file");
    }
    const size_t length_size = start[6] == 1 ? 2 : 4;
    if (fread(length_bytes, 1, length_size, file) != length_size) {
        fail(path, "the header is cut short");
    }
    const size_t length = length_bytes[0] | (size_t)length_bytes[1] << 8 | (size_t)length_bytes[2] << 16 | (size_t)length_bytes[3] << 24;
    if (length > 65536) {
        fail(path, "the header is too long");
    }
    char *header = calloc(length + 1, 1);
    if (header == NULL || fread(header, 1, length, file) != length) {
        fail(path, "the header is cut short");
    }
    const int is_float = strstr(header, "'<f4'") != NULL;
    if (!is_float && strstr(header, "'<f8'") == NULL) {
        fail(path, "the numbers must be float32 or float64, little-endian");
    }
    if (strstr(header, "'fortran_order': False") == NULL) {
        fail(path, "the array must be in C order");
    }
    const char *shape = strstr(header, "'shape': (");
    unsigned long long rows = 0, columns = 0;
    int end = -1;
    if (shape == NULL || sscanf(shape, "'shape': (%llu, %llu)%n", &rows, &columns, &end) != 2 || end < 0) {
        fail(path, "the shape must be (n, 4) or (n, 6)");
    }
    if (columns != 4 && columns != 6) {
        fail(path, "the shape must be (n, 4) or (n, 6)");
    }
    *count = (size_t)rows;
    *format = is_float ? (columns == 4 ? BP_FORMAT_2F : BP_FORMAT_3F) : (columns == 4 ? BP_FORMAT_2D : BP_FORMAT_3D);
    free(header);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: npy_pairs FILE.npy\n");
        return 2;
    }
    const char *path = argv[1];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail(path, "it cannot be opened");
    }
    bp_format format;
    size_t count;
    read_header(file, path, &format, &count);
    const size_t columns = format == BP_FORMAT_2F || format == BP_FORMAT_2D ? 4 : 6;
    const size_t size = format == BP_FORMAT_2F || format == BP_FORMAT_3F ? sizeof(float) : sizeof(double);
    void *boxes = count > 0 ? calloc(count, columns * size) : NULL;
    if (count > 0 && (boxes == NULL || fread(boxes, columns * size, count, file) != count)) {
        fail(path, "the boxes are cut short");
    }
    fclose(file);

    bp_pair_list list;
    bp_error error;
    if (bp_pairs(format, boxes, count, NULL, &list, &error) != BP_OK) {
        fail(path, error.text);
    }
    for (size_t i = 0; i < list.count; i++) {
        printf("%u %u\n", list.pairs[i].a, list.pairs[i].b);
    }
    bp_pair_list_free(&list);
    free(boxes);
    return 0;
}
