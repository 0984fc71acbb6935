// Descriptor by which a kernel that computes a convolution as a matrix product informs Duplo's detection unit (Kim et al.,
// MICRO '20, section IV) of the convolution. The unit eliminates loads of the lowered matrix if their data are already in a
// register. For HIP and OpenCL C.
//
// If a code object contains the object KERNEL_duplo, the parameters of kernel KERNEL are read from it at each dispatch. The
// object is initialised by the compiler, or filled by the program before the dispatch:
//
//   LACUNA_DUPLO(convolve);
//   extern "C" __global__ void convolve(const _Float16* workspace, ...) { ... }
//   ...
//   const struct lacuna_duplo convolution = {...};
//   hipMemcpyToSymbol(HIP_SYMBOL(convolve_duplo), &convolution, sizeof convolution);
//
// A kernel without such an object runs as on a GPU without Duplo.
#pragma once

#if defined(__OPENCL_C_VERSION__)
typedef uchar lacuna_duplo_u8;
typedef ushort lacuna_duplo_u16;
typedef uint lacuna_duplo_u32;
typedef ulong lacuna_duplo_u64;
#else
typedef unsigned char lacuna_duplo_u8;
typedef unsigned short lacuna_duplo_u16;
typedef unsigned int lacuna_duplo_u32;
typedef unsigned long long lacuna_duplo_u64;
#endif

enum {
  LACUNA_DUPLO_MEMORY = 0,           /* form: the workspace is in memory; fragments are loaded from memory */
  LACUNA_DUPLO_LDS = 1,              /* form: slabs of 64 columns of the workspace are in LDS; M0 selects the slab */
  LACUNA_DUPLO_IMAGES_OUTERMOST = 0, /* row_order: row = (image * output height + y) * output width + x */
  LACUNA_DUPLO_IMAGES_INNERMOST = 1  /* row_order: row = (y * output width + x) * images + image */
};

/* Location of slabs in LDS. Element k of a row is 2 k bytes after the start of the row. */
struct lacuna_duplo_lds {
  lacuna_duplo_u16 base;          /* offset of the first buffer in the workgroup's LDS, in units of 8 bytes */
  lacuna_duplo_u16 row_stride;    /* distance between rows, in units of 8 bytes */
  lacuna_duplo_u16 buffer_stride; /* distance between buffers, in units of 8 bytes */
  lacuna_duplo_u8 rows;           /* rows of a buffer */
  lacuna_duplo_u8 buffers;        /* 1 or more */
};

/* 32 bytes, little-endian. Columns of the workspace are ordered by (filter row, filter column, channel), channel fastest. */
struct lacuna_duplo {
  union {
    lacuna_duplo_u64 workspace;  /* form memory: address of row 0, a multiple of 16 bytes */
    struct lacuna_duplo_lds lds; /* form LDS */
  };
  lacuna_duplo_u32
      pitch; /* elements of 2 bytes between rows of the workspace, >= filter height x width x channels; also in form LDS */
  lacuna_duplo_u16 images;   /* 1 to 1,024 */
  lacuna_duplo_u16 height;   /* rows of the input without padding, including the zeros that a transposed convolution inserts */
  lacuna_duplo_u16 width;    /* columns of the input, counted likewise */
  lacuna_duplo_u16 channels; /* channels of the input, including those added for alignment */
  lacuna_duplo_u8 filter_height;  /* rows, 1 or more */
  lacuna_duplo_u8 filter_width;   /* columns, 1 or more */
  lacuna_duplo_u8 stride_y;       /* rows of the input between successive rows of the output, 1 or more */
  lacuna_duplo_u8 stride_x;       /* columns of the input between successive columns of the output, 1 or more */
  lacuna_duplo_u8 padding_top;    /* rows of zeros before the input */
  lacuna_duplo_u8 padding_left;   /* columns of zeros before the input */
  lacuna_duplo_u8 padding_bottom; /* rows of zeros after the input */
  lacuna_duplo_u8 padding_right;  /* columns of zeros after the input */
  lacuna_duplo_u8 form;           /* LACUNA_DUPLO_MEMORY or LACUNA_DUPLO_LDS */
  lacuna_duplo_u8 row_order;      /* LACUNA_DUPLO_IMAGES_OUTERMOST or LACUNA_DUPLO_IMAGES_INNERMOST */
  lacuna_duplo_u16 reserved;      /* 0 */
};

#if defined(__cplusplus)
#define LACUNA_DUPLO_ASSERT(condition) static_assert(condition, #condition)
#else
#define LACUNA_DUPLO_ASSERT(condition) _Static_assert(condition, #condition)
#endif
LACUNA_DUPLO_ASSERT(sizeof(struct lacuna_duplo_lds) == 8);
LACUNA_DUPLO_ASSERT(sizeof(struct lacuna_duplo) == 32);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo_lds, row_stride) == 2);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo_lds, buffer_stride) == 4);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo_lds, rows) == 6);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo_lds, buffers) == 7);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, workspace) == 0);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, pitch) == 8);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, images) == 12);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, height) == 14);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, width) == 16);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, channels) == 18);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, filter_height) == 20);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, filter_width) == 21);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, stride_y) == 22);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, stride_x) == 23);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, padding_top) == 24);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, padding_left) == 25);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, padding_bottom) == 26);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, padding_right) == 27);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, form) == 28);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, row_order) == 29);
LACUNA_DUPLO_ASSERT(__builtin_offsetof(struct lacuna_duplo, reserved) == 30);
#undef LACUNA_DUPLO_ASSERT

/* Declares the object of a kernel: LACUNA_DUPLO(convolve). In HIP, fill it with hipMemcpyToSymbol; in OpenCL C, initialise it:
 * LACUNA_DUPLO(convolve) = {...}; */
#if defined(__HIP__) || defined(__HIPCC__)
#define LACUNA_DUPLO(kernel) __attribute__((device)) struct lacuna_duplo kernel##_duplo
#elif defined(__OPENCL_C_VERSION__)
#define LACUNA_DUPLO(kernel) constant __attribute__((visibility("protected"))) struct lacuna_duplo kernel##_duplo
#endif
