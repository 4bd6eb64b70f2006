// Buffers shared with OpenGL: declared, never linked.
#pragma once

#include "cuda_runtime.h"

typedef unsigned int GLenum;
typedef unsigned int GLuint;

enum cudaGLDeviceList { cudaGLDeviceListAll = 1, cudaGLDeviceListCurrentFrame = 2, cudaGLDeviceListNextFrame = 3 };

__host__ cudaError_t cudaGLGetDevices(unsigned int* count, int* devices, unsigned int most, cudaGLDeviceList list);
__host__ cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource** resource, GLuint buffer, unsigned int flags);
__host__ cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource** resource, GLuint image, GLenum target,
                                                 unsigned int flags);

// Of CUDA before 5.
__host__ cudaError_t cudaGLSetGLDevice(int device);
__host__ cudaError_t cudaGLRegisterBufferObject(GLuint buffer);
__host__ cudaError_t cudaGLMapBufferObject(void** p, GLuint buffer);
__host__ cudaError_t cudaGLUnmapBufferObject(GLuint buffer);
__host__ cudaError_t cudaGLUnregisterBufferObject(GLuint buffer);
